package gram_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/gram"
)

// A bank and a shop know different things about the same two people; the sum of
// their parts is the Gram matrix of all columns.
func Example() {
	p, err := gram.NewParams([]gram.Holder{{Columns: 2, Exponent: 2, Whole: true}, {Columns: 1, Exponent: 1, Whole: true}}, 2, 0)
	if err != nil {
		panic(err)
	}
	bank, err := p.Part(linalg.Matrix[float64]{Data: []float64{1, 2, 3, 4}, Rows: 2, Cols: 2, Stride: 2}, 0)
	if err != nil {
		panic(err)
	}
	shop, err := p.Part(linalg.Matrix[float64]{Data: []float64{1, -2}, Rows: 2, Cols: 1, Stride: 1}, 1)
	if err != nil {
		panic(err)
	}
	sum := make([]int64, p.Groups()[0]) // secure aggregation would add them
	for _, part := range []*gram.Part{bank, shop} {
		entries := make([]int64, len(sum))
		part.Read(0, 0, entries)
		for i, v := range entries {
			sum[i] += v
		}
	}
	dot, err := p.Matrix([][]int64{sum})
	if err != nil {
		panic(err)
	}
	fmt.Println(dot.Row(0), dot.Row(1), "scale", p.Scale())
	// Output: [6 9] [9 29] scale 0
}
