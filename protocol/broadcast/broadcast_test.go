package broadcast

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

const piece = 8 // bytes of a message in tests

func body() []byte { return []byte("something public, of 29 bytes") }

func newSession(t testing.TB, params []byte) *protocol.Session {
	t.Helper()
	s, err := protocol.NewSession(protocol.Descriptor{
		Protocol: Name, Version: Version, Params: params, Purpose: "train",
		Members: []protocol.Member{{Name: "hub", Role: protocol.RoleServer}, {Name: "north", Role: protocol.RoleParty}, {Name: "south", Role: protocol.RoleParty}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestProperties(t *testing.T) {
	protocoltest.Run(t, protocoltest.Protocol{Name: Name, New: func(t testing.TB) protocoltest.Case {
		s := newSession(t, Encode(len(body())))
		setup := func(name string) protocol.Setup { return protocol.Setup{Session: s, Self: name} }
		first, err := newServer(setup("hub"), body(), piece)
		if err != nil {
			t.Fatal(err)
		}
		nodes := []sim.Node{{Name: "hub", InputHash: first.InputHash(), New: func() (protocol.Machine, error) { return newServer(setup("hub"), body(), piece) }}}
		for _, name := range []string{"north", "south"} {
			nodes = append(nodes, sim.Node{
				Name: name, Timers: map[protocol.Timer]int64{TimerTell: 1000},
				New: func() (protocol.Machine, error) { return newParty(setup(name), piece) },
			})
		}
		return protocoltest.Case{
			Session: s, Nodes: nodes, InFlight: 1 << 10,
			Trusts: func(protocol.Header) bool { return true },
			Check: func(name string, m protocol.Machine) error {
				if p, ok := m.(*Party); ok && !bytes.Equal(p.Body(), body()) {
					return fmt.Errorf("%s was told %q", name, p.Body())
				}
				return nil
			},
		}
	}})
}

func TestSessionsThatAreRefused(t *testing.T) {
	for name, params := range map[string][]byte{
		"no parameters": nil, "of another protocol": []byte("\x03abc"), "an empty body": Encode(0), "too long": Encode(MaxBytes + 1),
		"cut": Encode(9)[:5], "with a tail": append(Encode(9), 1),
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, params)
			if _, err := NewParty(protocol.Setup{Session: s, Self: "north"}); err == nil {
				t.Error("a party takes part")
			}
			if _, err := NewServer(protocol.Setup{Session: s, Self: "hub"}, body()); err == nil {
				t.Error("a server takes part")
			}
		})
	}
	s := newSession(t, Encode(len(body())))
	if _, err := NewServer(protocol.Setup{Session: s, Self: "hub"}, body()[1:]); err == nil {
		t.Error("a body of another length is told")
	}
	if _, err := NewServer(protocol.Setup{Session: s, Self: "north"}, body()); err == nil {
		t.Error("a party tells")
	}
	if _, err := NewParty(protocol.Setup{Session: s, Self: "hub"}); err == nil {
		t.Error("the server is told")
	}
	if _, err := NewParty(protocol.Setup{}); err == nil {
		t.Error("without a session")
	}
}

func FuzzParams(f *testing.F) {
	f.Add(Encode(1))
	f.Add(Encode(MaxBytes))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := form().Decode(b)
		if err == nil && !bytes.Equal(Encode(n), b) {
			t.Errorf("%x is read as %d, which is written %x", b, n, Encode(n))
		}
	})
}
