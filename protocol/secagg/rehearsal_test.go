package secagg

import (
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// A rehearsed client sends and receives as many bytes as in a session: exactly, if all hold
// equally many shares, on a ring or in a complete graph.
func TestRehearsalIsLikeASession(t *testing.T) {
	for a, clients := range map[Adversary]int{SemiHonest: 8, Active: 3} {
		c := newCohort(t, spec(a), clients)
		if a == Active && c.params.Degree().Holders != clients-1 {
			t.Fatalf("%+v; choose fewer clients", c.params.Degree())
		}
		wantSent, wantReceived := 0, 0
		r := c.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
			switch c.names[0] {
			case m.Sender:
				wantSent += len(m.Body)
			case m.Receiver:
				wantReceived += len(m.Body)
			}
			return []protocol.Message{m}
		})
		c.checkSum(t, r, clients)
		rehearsal, err := NewRehearsal(c.params, c.vectors[0])
		if err != nil {
			t.Fatal(err)
		}
		sent, received, err := rehearsal.Client()
		if err != nil || sent != wantSent || received != wantReceived {
			t.Errorf("%s: %d bytes sent and %d received, in a session %d and %d; error %v", a, sent, received, wantSent, wantReceived, err)
		}
	}
}

// The server's work can be rehearsed for those who stay and those who vanish.
func TestRehearsedUnmasking(t *testing.T) {
	for _, a := range []Adversary{SemiHonest, Active} {
		c := newCohort(t, spec(a), 40)
		rehearsal, err := NewRehearsal(c.params, c.vectors[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, vanished := range []bool{false, true} {
			unmask, err := rehearsal.Unmasking(2, vanished)
			if err != nil {
				t.Fatal(err)
			}
			if err := unmask(); err != nil {
				t.Errorf("%s, vanished %v: %v", a, vanished, err)
			}
		}
	}
}
