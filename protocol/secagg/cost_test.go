package secagg

import (
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/protocoltest"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// The cost of a session states every message of it. In a sparse graph of clients that draw their
// holders, it states those of all clients together.
func TestCostStatesTheMessages(t *testing.T) {
	long := []Group{{Entries: 3, Bound: 7, Signed: true}, {Entries: chunkWords + 5, Bound: 1 << 40}}
	together := func(f protocol.Flow) protocol.Flow {
		f.From, f.To = "", ""
		return f
	}
	for _, tt := range []struct {
		name    string
		spec    Spec
		clients int
		sparse  bool
		reduce  func(protocol.Flow) protocol.Flow
	}{
		{"complete", Spec{Minimum: 3, Epoch: "e", Groups: long}, 3, false, nil},
		{"complete, semi-honest", Spec{Adversary: SemiHonest, Minimum: 3, Epoch: "e", Groups: long}, 3, false, nil},
		{"ring", Spec{Adversary: SemiHonest, Minimum: 2, Epoch: "e", Groups: long[:1]}, 70, true, nil},
		{"drawn", Spec{Corrupted: .05, Minimum: 2, Epoch: "e", Groups: long[:1]}, 120, true, together},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCohort(t, tt.spec, tt.clients)
			if c.params.Degree().Complete == tt.sparse {
				t.Fatalf("the degree is %+v", c.params.Degree())
			}
			var meter protocoltest.Meter
			if err := c.run(t, sim.Schedule{}, meter.Count).Err(); err != nil {
				t.Fatal(err)
			}
			cost, err := Cost(c.session, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			meter.Check(t, cost, tt.reduce)
		})
	}
}
