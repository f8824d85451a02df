package fdskl

import (
	"testing"

	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// The transcripts fix the bytes on the wire. A change in them is a new version
// of the protocol.
func TestTranscripts(t *testing.T) {
	small := Spec{Bits: 16, Rows: 30, Directions: 2}
	paper := Spec{Mode: Paper, Bits: 8, Rows: 7, Directions: 4}
	rough := sim.Schedule{Seed: 4, Loss: 0.5, Duplicate: 0.5, Reorder: 1, MaxDelay: 9, Crash: []sim.Crash{{Node: "shop1", Event: 6}}}
	for _, tt := range []struct {
		file     string
		spec     Spec
		workers  int
		rounds   bool // of single directions, not one table
		schedule sim.Schedule
	}{
		{"table.txt", small, 4, false, sim.Schedule{}},
		{"rounds.txt", Spec{Bits: 8, Topology: Chain, Rows: 7, Directions: 4}, 3, true, sim.Schedule{}},
		{"paper.txt", paper, 4, true, sim.Schedule{}},
		{"rough.txt", small, 4, false, rough},
		{"vanished.txt", small, 4, false, sim.Schedule{Gone: map[string]int{"shop3": 7}}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			f := newFederation(t, tt.spec, tt.workers)
			f.chunk = tt.spec.Directions * tt.spec.Bits / 8 * 2 // two rows
			schedule := f.table
			if tt.rounds {
				schedule = func() Schedule { return &rounds{params: f.params} }
			}
			r, err := sim.Run(sim.Config{Session: f.session, Nodes: f.nodes(schedule), Schedule: tt.schedule})
			if err != nil {
				t.Fatal(err)
			}
			protocoltest.Golden(t, tt.file, r.Transcript())
		})
	}
}

// Two active workers take turns.
func TestTranscriptOfTurns(t *testing.T) {
	c := newCouncil(t, Spec{Mode: Paper, Bits: 8, Rows: 4, Directions: 4}, 3, 2, 1)
	r, err := sim.Run(sim.Config{Session: c.session, Nodes: c.nodes()})
	if err != nil {
		t.Fatal(err)
	}
	protocoltest.Golden(t, "turns.txt", r.Transcript())
}
