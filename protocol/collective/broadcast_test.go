package collective

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

const piece = 8 // bytes of a message in tests

func broadcastBody() []byte { return []byte("something public, of 29 bytes") }

func newBroadcastSession(t testing.TB, params []byte) *protocol.Session {
	t.Helper()
	s, err := protocol.NewSession(protocol.Descriptor{
		Protocol: BroadcastName, Version: BroadcastVersion, Params: params, Purpose: "train",
		Members: []protocol.Member{{Name: "hub", Role: protocol.RoleServer}, {Name: "north", Role: protocol.RoleParty}, {Name: "south", Role: protocol.RoleParty}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBroadcastProperties(t *testing.T) {
	protocoltest.Run(t, protocoltest.Protocol{Name: BroadcastName, New: func(t testing.TB) protocoltest.Case {
		s := newBroadcastSession(t, EncodeBroadcast(len(broadcastBody())))
		setup := func(name string) protocol.Setup { return protocol.Setup{Session: s, Self: name} }
		first, err := newBroadcastServer(setup("hub"), broadcastBody(), piece)
		if err != nil {
			t.Fatal(err)
		}
		nodes := []sim.Node{{Name: "hub", InputHash: first.InputHash(), New: func() (protocol.Machine, error) { return newBroadcastServer(setup("hub"), broadcastBody(), piece) }}}
		for _, name := range []string{"north", "south"} {
			nodes = append(nodes, sim.Node{
				Name: name, Timers: map[protocol.Timer]int64{TimerBroadcast: 1000},
				New: func() (protocol.Machine, error) { return newBroadcastParty(setup(name), piece) },
			})
		}
		return protocoltest.Case{
			Session: s, Nodes: nodes, InFlight: 1 << 10,
			Trusts: func(protocol.Header) bool { return true },
			Check: func(name string, m protocol.Machine) error {
				if p, ok := m.(*BroadcastParty); ok && !bytes.Equal(p.Body(), broadcastBody()) {
					return fmt.Errorf("%s was told %q", name, p.Body())
				}
				return nil
			},
		}
	}})
}

func TestBroadcastsThatAreRefused(t *testing.T) {
	for name, params := range map[string][]byte{
		"no parameters": nil, "of another protocol": []byte("\x03abc"), "an empty body": EncodeBroadcast(0), "too long": EncodeBroadcast(MaxBroadcastBytes + 1),
		"cut": EncodeBroadcast(9)[:5], "with a tail": append(EncodeBroadcast(9), 1),
	} {
		t.Run(name, func(t *testing.T) {
			s := newBroadcastSession(t, params)
			if _, err := NewBroadcastParty(protocol.Setup{Session: s, Self: "north"}); err == nil {
				t.Error("a party takes part")
			}
			if _, err := NewBroadcastServer(protocol.Setup{Session: s, Self: "hub"}, broadcastBody()); err == nil {
				t.Error("a server takes part")
			}
		})
	}
	s := newBroadcastSession(t, EncodeBroadcast(len(broadcastBody())))
	if _, err := NewBroadcastServer(protocol.Setup{Session: s, Self: "hub"}, broadcastBody()[1:]); err == nil {
		t.Error("a body of another length is told")
	}
	if _, err := NewBroadcastServer(protocol.Setup{Session: s, Self: "north"}, broadcastBody()); err == nil {
		t.Error("a party tells")
	}
	if _, err := NewBroadcastParty(protocol.Setup{Session: s, Self: "hub"}); err == nil {
		t.Error("the server is told")
	}
	if _, err := NewBroadcastParty(protocol.Setup{}); err == nil {
		t.Error("without a session")
	}
}

func FuzzBroadcastParams(f *testing.F) {
	f.Add(EncodeBroadcast(1))
	f.Add(EncodeBroadcast(MaxBroadcastBytes))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := broadcastForm().decode(b)
		if err == nil && !bytes.Equal(EncodeBroadcast(n), b) {
			t.Errorf("%x is read as %d, which is written %x", b, n, EncodeBroadcast(n))
		}
	})
}
