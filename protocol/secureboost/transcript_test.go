package secureboost

import (
	"testing"

	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// The transcripts fix the bytes on the wire. A change in them is a new version of the
// protocol.
func TestTranscripts(t *testing.T) {
	small := Spec{Encryption: None, Rows: 40, Training: 30, Rounds: 2, Depth: 2}
	sealed := Spec{Encryption: Paillier, Rows: 20, Training: 18, Rounds: 1, Depth: 2}
	for _, tt := range []struct {
		file     string
		spec     Spec
		schedule sim.Schedule
	}{
		{"none.txt", small, sim.Schedule{}},
		{"paillier.txt", sealed, sim.Schedule{}},
		{"rough.txt", sealed, sim.Schedule{Seed: 4, Loss: 0.5, Duplicate: 0.5, Reorder: 1, MaxDelay: 9, Crash: []sim.Crash{{Node: "shop1", Event: 4}}}},
		{"vanished.txt", small, sim.Schedule{Gone: map[string]int{"shop2": 6}}},
	} {
		t.Run(tt.file, func(t *testing.T) {
			f := newFederation(t, tt.spec, 1, 2, 1)
			r, err := sim.Run(sim.Config{Session: f.session, Nodes: f.nodes(), Schedule: tt.schedule})
			if err != nil {
				t.Fatal(err)
			}
			protocoltest.Golden(t, tt.file, r.Transcript())
		})
	}
}
