package ppsvmv_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/gram"
	"github.com/mercer-fl/mercer/protocol/memory"
	"github.com/mercer-fl/mercer/protocol/ppsvmv"
)

// A bank and a shop add up the inner products of two people around a ring.
func Example() {
	layout, err := gram.NewParams([]gram.Holder{{Columns: 2, Exponent: 2, Whole: true}, {Columns: 1, Exponent: 1, Whole: true}}, 2, 0)
	if err != nil {
		panic(err)
	}
	params, err := ppsvmv.NewParams(layout.Groups(), [32]byte{})
	if err != nil {
		panic(err)
	}
	s := memory.New(protocol.Descriptor{
		Protocol: ppsvmv.Name, Version: ppsvmv.Version, Params: params.Encode(),
		Members: []protocol.Member{{Name: "server", Role: protocol.RoleServer}, {Name: "bank", Role: protocol.RoleLeader}, {Name: "shop", Role: protocol.RoleParty}},
	})
	part, err := layout.Part(linalg.Matrix[float64]{Data: []float64{1, 2, 3, 4}, Rows: 2, Cols: 2, Stride: 2}, 0)
	if err != nil {
		panic(err)
	}
	bank, err := ppsvmv.NewLeader(s.Setup("bank"), part)
	s.Add("bank", bank, err)
	if part, err = layout.Part(linalg.Matrix[float64]{Data: []float64{1, -2}, Rows: 2, Cols: 1, Stride: 1}, 1); err != nil {
		panic(err)
	}
	shop, err := ppsvmv.NewSite(s.Setup("shop"), part)
	s.Add("shop", shop, err)
	server, err := ppsvmv.NewServer(s.Setup("server"))
	s.Add("server", server, err)
	if err := s.Run(); err != nil {
		panic(err)
	}
	dot, err := layout.Matrix(server.Sums())
	fmt.Println(dot.Row(0), dot.Row(1), err)
	// Output: [6 9] [9 29] <nil>
}
