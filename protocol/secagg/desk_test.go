package secagg

import (
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// Clients are counted in the order of the members, wherever the server stands.
func TestClientsAreCountedWithoutTheServer(t *testing.T) {
	p, err := NewParams(few(Active), 4)
	if err != nil {
		t.Fatal(err)
	}
	for at := range 5 {
		var members []protocol.Member
		for i := range 5 {
			members = append(members, protocol.Member{Name: string(rune('a' + i)), Role: protocol.RoleParty})
		}
		members[at].Role = protocol.RoleServer
		session, err := protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: p.Encode(), Members: members, Purpose: "test"})
		if err != nil {
			t.Fatal(err)
		}
		d, err := newCore(protocol.Setup{Session: session, Self: members[at].Name}, p, protocol.RoleServer)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range session.With(protocol.RoleParty) {
			if got, ok := d.clientOf(name); !ok || got != i || d.name(i) != name {
				t.Errorf("the server at %d: %s is client %d, %v, and client %d is %s", at, name, got, ok, i, d.name(i))
			}
		}
		for _, other := range []string{"nobody", d.server()} {
			if _, ok := d.clientOf(other); ok {
				t.Errorf("the server at %d: %s is a client", at, other)
			}
		}
	}
}

// A client that speaks as the server would is refused, early or late.
func TestServersKindsComeFromTheServer(t *testing.T) {
	c := newCohort(t, spec(Active), 5)
	s, err := NewServer(c.setup("server"), c.params, c.public(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, s)
	s.round = roundUnmask
	for round := roundCohort; round < roundUnmask; round += 2 {
		m := protocol.Message{Header: c.session.Header(c.names[1], "server", round, kindOf(round))}
		if _, err := s.Step(protocol.Received{Message: m}); err == nil {
			t.Errorf("%s from a client is accepted", kindOf(round))
		}
	}
}

// After the end no machine holds a secret.
func TestSecretsDieWithTheSession(t *testing.T) {
	c := newCohort(t, spec(Active), 5)
	r := c.run(t, sim.Schedule{}, nil)
	c.checkSum(t, r, 5)
	for _, name := range c.names {
		if m := r.Outcome(name).Machine.(*Client); m.secrets != nil || m.held != nil || m.masks != nil || m.setup.Seed != [32]byte{} {
			t.Errorf("%s keeps secrets", name)
		}
	}
	if s := r.Outcome("server").Machine.(*Server); s.peers != nil || s.recovery != nil || s.sum != nil {
		t.Error("the server keeps shares")
	}
}
