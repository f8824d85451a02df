package psi

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// The cost of a session states every message of it: of two parties, and of rings of three and five,
// with sets of one message and of several.
func TestCostStatesTheMessages(t *testing.T) {
	for _, tt := range []struct{ parties, common, own int }{{2, 5, 3}, {2, 2100, 1}, {3, 5, 3}, {3, 2100, 10}, {5, 4, 2}} {
		t.Run(fmt.Sprintf("%d parties, %d common", tt.parties, tt.common), func(t *testing.T) {
			if testing.Short() && tt.common > 100 {
				t.Skip("long")
			}
			var sets [][][]byte
			size := make(map[string]int)
			for i := range tt.parties {
				var set [][]byte
				for k := range tt.common {
					set = append(set, fmt.Append(nil, "common ", k))
				}
				for k := range tt.own + i {
					set = append(set, fmt.Append(nil, "own ", i, " ", k))
				}
				sets, size[names[i]] = append(sets, set), len(set)
			}
			p := params(t, Spec{})
			s := newSession(t, p, tt.parties)
			var meter protocoltest.Meter
			r, err := sim.Run(sim.Config{Session: s, Nodes: cast(s, p, bulk(), sets...), Intercept: meter.Count})
			if err == nil {
				err = r.Err()
			}
			if err != nil {
				t.Fatal(err)
			}
			meter.Check(t, Cost(s, func(party string) int { return size[party] }, tt.common), nil)
		})
	}
}
