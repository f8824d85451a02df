package scale_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// column is a table of one column.
func column(values ...float64) linalg.Matrix[float64] {
	return linalg.Matrix[float64]{Rows: len(values), Cols: 1, Stride: 1, Data: values}
}

func Example() {
	params, _ := scale.NewParams(scale.Spec{Method: scale.MinMax})
	s := memory.New(protocol.Descriptor{
		Protocol: scale.Name, Version: scale.Version, Params: params.Encode(),
		Members: append(protocol.Members(protocol.RoleLeader, "north"), protocol.Members(protocol.RoleParty, "south")...),
	})
	first, _ := scale.Summarize(column(20, 70), scale.MinMax)
	north, err := scale.NewLeader(s.Setup("north"), first)
	s.Add("north", north, err)
	second, _ := scale.Summarize(column(100), scale.MinMax)
	south, err := scale.NewParty(s.Setup("south"), second)
	s.Add("south", south, err)
	if err := s.Run(); err != nil {
		fmt.Println(err)
		return
	}
	scaling := south.Result()
	fmt.Println(scaling.Offset, scaling.Factor)
	// Output: [20] [0.0125]
}
