package scale_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/scale"
	"github.com/mercer-fl/mercer/protocol/sim"
)

func Example() {
	params, _ := scale.NewParams(scale.Spec{Method: scale.MinMax})
	session, _ := protocol.NewSession(protocol.Descriptor{
		Protocol: scale.Name, Version: scale.Version, Params: params.Encode(),
		Members: []protocol.Member{{Name: "north", Role: protocol.RoleLeader}, {Name: "south", Role: protocol.RoleParty}},
	})
	north, _ := scale.Summarize(linalg.Matrix[float64]{Rows: 2, Cols: 1, Stride: 1, Data: []float64{20, 70}}, scale.MinMax)
	south, _ := scale.Summarize(linalg.Matrix[float64]{Rows: 1, Cols: 1, Stride: 1, Data: []float64{100}}, scale.MinMax)
	result, err := sim.Run(sim.Config{Session: session, Nodes: []sim.Node{
		{Name: "north", InputHash: north.Hash(), New: func() (protocol.Machine, error) {
			return scale.NewLeader(protocol.Setup{Session: session, Self: "north"}, north)
		}},
		{Name: "south", InputHash: south.Hash(), New: func() (protocol.Machine, error) {
			return scale.NewParty(protocol.Setup{Session: session, Self: "south"}, south)
		}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	scaling := result.Outcome("south").Machine.(*scale.Party).Result()
	fmt.Println(scaling.Offset, scaling.Factor)
	// Output: [20] [0.0125]
}
