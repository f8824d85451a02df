package cca_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/cca"
	"github.com/mercer-fl/mercer/linalg"
)

// Two views of five rows: the second is twice the first, with another column beside it.
func Example() {
	x := linalg.Matrix[float64]{Rows: 5, Cols: 1, Stride: 1, Data: []float64{1, 2, 3, 4, 5}}
	y := linalg.Matrix[float64]{Rows: 5, Cols: 2, Stride: 2, Data: []float64{2, 1, 4, -1, 6, 1, 8, -1, 10, 1}}
	m, err := cca.Fit(kernel.Dense{K: kernel.LinearGram(x)}, kernel.Dense{K: kernel.LinearGram(y)}, cca.Params{Components: 1, Regularization: 0.001})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", m.Correlations)
	// Output: [1.00]
}
