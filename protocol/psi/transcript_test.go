package psi

import (
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// The transcripts fix the bytes on the wire. A change in them is a new version
// of the protocol.
func TestTranscripts(t *testing.T) {
	apart := [][][]byte{ids("a", "b"), ids("c"), ids("d", "a")}
	for _, c := range []struct {
		file     string
		sets     [][][]byte
		size     sizing
		schedule sim.Schedule
	}{
		{"two.txt", testSets(2), bulk(), sim.Schedule{}},
		{"three.txt", testSets(3), bulk(), sim.Schedule{}},
		{"chunks.txt", testSets(3), small(), sim.Schedule{Window: 2}},
		{"rough.txt", testSets(2), small(), sim.Schedule{Seed: 4, Loss: 0.5, Duplicate: 0.5, Reorder: 1, MaxDelay: 9, Crash: []sim.Crash{{Node: "north", Event: 4}}}},
		{"none.txt", apart[:2], bulk(), sim.Schedule{}},
		{"none-of-three.txt", apart, bulk(), sim.Schedule{}},
		{"missing.txt", testSets(3), bulk(), sim.Schedule{Gone: map[string]int{"south": 5}}},
	} {
		t.Run(c.file, func(t *testing.T) {
			protocoltest.Golden(t, c.file, run(t, c.size, c.schedule, c.sets...).Transcript())
		})
	}
}

// Every element on the wire belongs to one session: the same sets under the same
// seeds look different in the next one, and their rows stand in another order.
func TestSessionsAreNotLinked(t *testing.T) {
	p, sets := params(t, Spec{}), testSets(2)
	seen, orders := make(map[string]int), make(map[[5]int]bool)
	for attempt := range uint32(6) {
		d := newSession(t, p, 2).Descriptor
		d.Attempt = attempt
		s, err := protocol.NewSession(d)
		if err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(sim.Config{Session: s, Nodes: cast(s, p, bulk(), sets...), Intercept: func(m protocol.Message) []protocol.Message {
			if m.Kind == kindBlinded || m.Kind == kindConfirm {
				for i := 0; i < len(m.Body); i += 32 {
					seen[string(m.Body[i:i+32])]++
				}
			}
			return []protocol.Message{m}
		}})
		if err != nil {
			t.Fatal(err)
		}
		checkAligned(t, r, sets)
		var order [5]int
		copy(order[:], party(r, 1).Order())
		orders[order] = true
	}
	for element, n := range seen {
		if n > 1 {
			t.Errorf("%x is sent %d times", element, n)
		}
	}
	if want := 6 * (7 + 5 + 2); len(seen) != want || len(orders) < 3 {
		t.Errorf("%d elements, want %d; %d orders", len(seen), want, len(orders))
	}
}
