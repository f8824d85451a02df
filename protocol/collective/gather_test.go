package collective

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// gatherBody returns the 29 bytes that a party sends.
func gatherBody(name string) []byte { return []byte(fmt.Sprintf("%-29s", "what "+name+" gives")) }

func newGatherSession(t testing.TB, params []byte) *protocol.Session {
	t.Helper()
	s, err := protocol.NewSession(protocol.Descriptor{
		Protocol: GatherName, Version: GatherVersion, Params: params, Purpose: "train",
		Members: []protocol.Member{{Name: "hub", Role: protocol.RoleServer}, {Name: "north", Role: protocol.RoleParty}, {Name: "south", Role: protocol.RoleParty}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGatherProperties(t *testing.T) {
	protocoltest.Run(t, protocoltest.Protocol{Name: GatherName, New: func(t testing.TB) protocoltest.Case {
		s := newGatherSession(t, EncodeGather(29))
		setup := func(name string) protocol.Setup { return protocol.Setup{Session: s, Self: name} }
		nodes := []sim.Node{{
			Name: "hub", Timers: map[protocol.Timer]int64{TimerGather: 1000},
			New: func() (protocol.Machine, error) { return newGatherServer(setup("hub"), piece) },
		}}
		for _, name := range []string{"north", "south"} {
			first, err := newGatherParty(setup(name), gatherBody(name), piece)
			if err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, sim.Node{
				Name: name, InputHash: first.InputHash(),
				New: func() (protocol.Machine, error) { return newGatherParty(setup(name), gatherBody(name), piece) },
			})
		}
		return protocoltest.Case{
			Session: s, Nodes: nodes, InFlight: 1 << 10,
			Trusts: func(protocol.Header) bool { return true },
			Check: func(name string, m protocol.Machine) error {
				hub, is := m.(*GatherServer)
				if !is {
					return nil
				}
				for i, party := range []string{"north", "south"} {
					if !bytes.Equal(hub.Bodies()[i], gatherBody(party)) {
						return fmt.Errorf("%s has given %q", party, hub.Bodies()[i])
					}
				}
				return nil
			},
		}
	}})
}

func TestGathersThatAreRefused(t *testing.T) {
	for name, params := range map[string][]byte{
		"no parameters": nil, "of another protocol": []byte("\x03abc"), "empty bodies": EncodeGather(0), "too long": EncodeGather(MaxGatherBytes + 1),
		"cut": EncodeGather(9)[:5], "with a tail": append(EncodeGather(9), 1),
	} {
		t.Run(name, func(t *testing.T) {
			s := newGatherSession(t, params)
			if _, err := NewGatherParty(protocol.Setup{Session: s, Self: "north"}, gatherBody("north")); err == nil {
				t.Error("a party takes part")
			}
			if _, err := NewGatherServer(protocol.Setup{Session: s, Self: "hub"}); err == nil {
				t.Error("a server takes part")
			}
		})
	}
	s := newGatherSession(t, EncodeGather(29))
	if _, err := NewGatherParty(protocol.Setup{Session: s, Self: "north"}, gatherBody("north")[1:]); err == nil {
		t.Error("a body of another length is given")
	}
	if _, err := NewGatherParty(protocol.Setup{Session: s, Self: "hub"}, gatherBody("hub")); err == nil {
		t.Error("the server gives")
	}
	if _, err := NewGatherServer(protocol.Setup{Session: s, Self: "north"}); err == nil {
		t.Error("a party is given")
	}
	if _, err := NewGatherServer(protocol.Setup{}); err == nil {
		t.Error("without a session")
	}
}

// A piece of another length is blamed on its sender.
func TestPieceOfAnotherLength(t *testing.T) {
	s := newGatherSession(t, EncodeGather(29))
	m, err := newGatherServer(protocol.Setup{Session: s, Self: "hub"}, piece)
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

func FuzzGatherParams(f *testing.F) {
	f.Add(EncodeGather(1))
	f.Add(EncodeGather(MaxGatherBytes))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := gatherForm().decode(b)
		if err == nil && !bytes.Equal(EncodeGather(n), b) {
			t.Errorf("%x is read as %d, which is written %x", b, n, EncodeGather(n))
		}
	})
}
