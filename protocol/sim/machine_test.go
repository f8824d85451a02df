package sim_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// stepper is a machine made of one function.
type stepper func(protocol.Event) (protocol.Effects, error)

func (f stepper) Step(e protocol.Event) (protocol.Effects, error) { return f(e) }

// node returns a node whose machine is rebuilt by calling build.
func node(name string, build func() stepper) sim.Node {
	return sim.Node{Name: name, New: func() (protocol.Machine, error) { return build(), nil }}
}

func session(t testing.TB, nonce byte) *protocol.Session {
	t.Helper()
	s, err := protocol.NewSession(protocol.Descriptor{
		Protocol: "count", Version: 1, Purpose: "test", Nonce: [32]byte{nonce},
		Members: []protocol.Member{{Name: "sender", Role: protocol.RoleParty}, {Name: "receiver", Role: protocol.RoleServer}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// number is message i from the sender to the receiver.
func number(s *protocol.Session, i uint32) protocol.Message {
	h := s.Header("sender", "receiver", 1, "Number")
	h.Sequence = i
	return protocol.Message{Header: h, Body: binary.LittleEndian.AppendUint32(nil, i)}
}

// sender sends n numbers, batch in each step, and ends.
func sender(s *protocol.Session, n, batch uint32) func() stepper {
	return func() stepper {
		next := uint32(0)
		return func(protocol.Event) (protocol.Effects, error) {
			var eff protocol.Effects
			for range min(batch, n-next) {
				eff.Send = append(eff.Send, number(s, next))
				next++
			}
			if eff.Resume = next < n; !eff.Resume {
				eff.End = &protocol.End{}
			}
			return eff, nil
		}
	}
}

// receiver accepts n numbers in ascending order only, and ends.
func receiver(s *protocol.Session, n uint32) func() stepper {
	return func() stepper {
		next := uint32(0)
		return func(e protocol.Event) (protocol.Effects, error) {
			switch e := e.(type) {
			case protocol.Received:
				if err := s.Check(e.Message.Header, "receiver"); err != nil {
					return protocol.Effects{}, err
				}
				got := binary.LittleEndian.Uint32(e.Message.Body)
				if got > next {
					return protocol.Effects{}, protocol.ErrLater
				}
				if got < next {
					return protocol.Effects{}, errors.New("a number came twice")
				}
				next++
			case protocol.Expired:
				return protocol.Effects{End: &protocol.End{Err: errors.New("waited too long")}}, nil
			}
			eff := protocol.Effects{Arm: []protocol.Timer{"numbers"}}
			if next == n {
				eff.End = &protocol.End{}
			}
			return eff, nil
		}
	}
}

// counting returns the run of sender and receiver.
func counting(t testing.TB, n, batch uint32) sim.Config {
	s := session(t, 1)
	return sim.Config{Session: s, Nodes: []sim.Node{node("sender", sender(s, n, batch)), node("receiver", receiver(s, n))}}
}

func mustRun(t testing.TB, cfg sim.Config) *sim.Result {
	t.Helper()
	r, err := sim.Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
