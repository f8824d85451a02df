package gather

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

const piece = 8 // bytes of a message in tests

// body returns the 29 bytes that a party gives.
func body(name string) []byte { return []byte(fmt.Sprintf("%-29s", "what "+name+" gives")) }

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
		s := newSession(t, Encode(29))
		setup := func(name string) protocol.Setup { return protocol.Setup{Session: s, Self: name} }
		nodes := []sim.Node{{
			Name: "hub", Timers: map[protocol.Timer]int64{TimerGive: 1000},
			New: func() (protocol.Machine, error) { return newServer(setup("hub"), piece) },
		}}
		for _, name := range []string{"north", "south"} {
			first, err := newParty(setup(name), body(name), piece)
			if err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, sim.Node{
				Name: name, InputHash: first.InputHash(),
				New: func() (protocol.Machine, error) { return newParty(setup(name), body(name), piece) },
			})
		}
		return protocoltest.Case{
			Session: s, Nodes: nodes, InFlight: 1 << 10,
			Trusts: func(protocol.Header) bool { return true },
			Check: func(name string, m protocol.Machine) error {
				hub, is := m.(*Server)
				if !is {
					return nil
				}
				for i, party := range []string{"north", "south"} {
					if !bytes.Equal(hub.Bodies()[i], body(party)) {
						return fmt.Errorf("%s has given %q", party, hub.Bodies()[i])
					}
				}
				return nil
			},
		}
	}})
}

func TestSessionsThatAreRefused(t *testing.T) {
	for name, params := range map[string][]byte{
		"no parameters": nil, "of another protocol": []byte("\x03abc"), "empty bodies": Encode(0), "too long": Encode(MaxBytes + 1),
		"cut": Encode(9)[:5], "with a tail": append(Encode(9), 1),
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, params)
			if _, err := NewParty(protocol.Setup{Session: s, Self: "north"}, body("north")); err == nil {
				t.Error("a party takes part")
			}
			if _, err := NewServer(protocol.Setup{Session: s, Self: "hub"}); err == nil {
				t.Error("a server takes part")
			}
		})
	}
	s := newSession(t, Encode(29))
	if _, err := NewParty(protocol.Setup{Session: s, Self: "north"}, body("north")[1:]); err == nil {
		t.Error("a body of another length is given")
	}
	if _, err := NewParty(protocol.Setup{Session: s, Self: "hub"}, body("hub")); err == nil {
		t.Error("the server gives")
	}
	if _, err := NewServer(protocol.Setup{Session: s, Self: "north"}); err == nil {
		t.Error("a party is given")
	}
	if _, err := NewServer(protocol.Setup{}); err == nil {
		t.Error("without a session")
	}
}

// A piece of another length is its sender's fault.
func TestPieceOfAnotherLength(t *testing.T) {
	s := newSession(t, Encode(29))
	m, err := newServer(protocol.Setup{Session: s, Self: "hub"}, piece)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Step(protocol.Start{InputHash: m.InputHash()}); err != nil {
		t.Fatal(err)
	}
	message := protocol.Message{Header: s.Header("north", "hub", 1, "Give"), Body: make([]byte, 3)}.Piece(0, 4)
	_, err = m.Step(protocol.Received{Message: message})
	var blame *protocol.BlameError
	if !errors.As(err, &blame) || blame.Party != "north" || blame.Kind != protocol.KindMalformed {
		t.Errorf("error %v", err)
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
