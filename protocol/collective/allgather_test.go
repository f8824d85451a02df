package collective

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

func allGatherMembers() []protocol.Member {
	return []protocol.Member{{Name: "hub", Role: protocol.RoleServer}, {Name: "guest", Role: protocol.RoleLeader}, {Name: "host", Role: protocol.RoleParty}, {Name: "third", Role: protocol.RoleParty}}
}

func newAllGatherSession(t testing.TB, spoil func(*protocol.Descriptor)) *protocol.Session {
	t.Helper()
	d := protocol.Descriptor{Protocol: AllGatherName, Version: AllGatherVersion, Purpose: "train", Members: allGatherMembers()}
	if spoil != nil {
		spoil(&d)
	}
	s, err := protocol.NewSession(d)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func statement(name string) []byte { return []byte("what " + name + " states") }

func allGatherNode(s *protocol.Session, name string) (*AllGather, error) {
	setup := protocol.Setup{Session: s, Self: name}
	if name == "hub" {
		return NewAllGatherServer(setup)
	}
	return NewAllGather(setup, statement(name))
}

func allGatherNodes(t testing.TB, s *protocol.Session) []sim.Node {
	t.Helper()
	var list []sim.Node
	for _, m := range s.Members {
		first, err := allGatherNode(s, m.Name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, sim.Node{
			Name: m.Name, InputHash: first.InputHash(), Timers: map[protocol.Timer]int64{TimerAllGather: 1000},
			New: func() (protocol.Machine, error) { return allGatherNode(s, m.Name) },
		})
	}
	return list
}

func TestAllGatherProperties(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	want := [][]byte{statement("guest"), statement("host"), statement("third")}
	protocoltest.Run(t, protocoltest.Protocol{Name: AllGatherName, New: func(t testing.TB) protocoltest.Case {
		s := newAllGatherSession(t, nil)
		return protocoltest.Case{
			Session: s, Nodes: allGatherNodes(t, s), InFlight: 1 << 10,
			Trusts: func(protocol.Header) bool { return true },
			Check: func(name string, m protocol.Machine) error {
				if d := cmp.Diff(want, m.(*AllGather).Statements()); d != "" {
					return fmt.Errorf("%s has received %s", name, d)
				}
				return nil
			},
		}
	}})
}

func TestAllGatherTranscript(t *testing.T) {
	s := newAllGatherSession(t, nil)
	r, err := sim.Run(sim.Config{Session: s, Nodes: allGatherNodes(t, s)})
	if err != nil {
		t.Fatal(err)
	}
	protocoltest.Golden(t, "allgather.txt", r.Transcript())
}

func TestAllGathersThatAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*protocol.Descriptor){
		"of another protocol": func(d *protocol.Descriptor) { d.Protocol = "scale" },
		"of another version":  func(d *protocol.Descriptor) { d.Version++ },
		"with parameters":     func(d *protocol.Descriptor) { d.Params = []byte{1} },
		"of one party":        func(d *protocol.Descriptor) { d.Members = d.Members[:2] },
	} {
		s := newAllGatherSession(t, spoil)
		if _, err := allGatherNode(s, "guest"); err == nil {
			t.Errorf("a party takes part in a session %s", name)
		}
		if _, err := allGatherNode(s, "hub"); err == nil {
			t.Errorf("a server takes part in a session %s", name)
		}
	}
	setup := protocol.Setup{Session: newAllGatherSession(t, nil), Self: "guest"}
	if _, err := NewAllGatherServer(setup); err == nil {
		t.Error("a party is the server")
	}
	for _, n := range []int{0, MaxStatementBytes + 1} {
		if _, err := NewAllGather(setup, bytes.Repeat([]byte{1}, n)); err == nil {
			t.Errorf("a statement of %d bytes is made", n)
		}
	}
	setup.Self = "hub"
	if _, err := NewAllGather(setup, []byte{1}); err == nil {
		t.Error("the server states something")
	}
	if _, err := NewAllGatherServer(protocol.Setup{}); err == nil {
		t.Error("without a session")
	}
}

// A statement that is too long is blamed on its sender.
func TestStatementTooLong(t *testing.T) {
	s := newAllGatherSession(t, nil)
	m, err := allGatherNode(s, "hub")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Step(protocol.Start{InputHash: m.InputHash()}); err != nil {
		t.Fatal(err)
	}
	_, err = m.Step(protocol.Received{Message: protocol.Message{Header: s.Header("host", "hub", roundStatement, kindStatement), Body: make([]byte, MaxStatementBytes+1)}})
	var blame *protocol.BlameError
	if !errors.As(err, &blame) || blame.Party != "host" || blame.Kind != protocol.KindMalformed {
		t.Errorf("error %v", err)
	}
}
