package boost_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/learn/boost"
	"github.com/mercer-fl/mercer/linalg"
)

// Two columns decide together: a single one tells nothing.
func Example() {
	rows := linalg.Matrix[float64]{Rows: 6, Cols: 2, Stride: 2, Data: []float64{0, 0, 0, 1, 1, 0, 1, 1, 0, 0, 0, 1}}
	y := []float64{0, 1, 1, 0} // of the first four rows
	b, err := boost.New(boost.Params{Rounds: 20, Depth: 2, Rate: 0.5, Lambda: 0}, y, 6)
	if err != nil {
		fmt.Println(err)
		return
	}
	columns := boost.Bin(rows, len(y), 32)
	if err := boost.Fit(b, columns, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(columns.Cuts, len(b.Model().Trees))
	// Output: [[0.5] [0.5]] 20
}
