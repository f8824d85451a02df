package kpca_test

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/kpca"
	"github.com/mercer-fl/mercer/linalg"
)

// Points on a line have one component, along which they keep their distances.
func Example() {
	x := linalg.Matrix[float64]{Rows: 3, Cols: 2, Stride: 2, Data: []float64{0, 0, 3, 4, 6, 8}}
	m, err := kpca.Fit(kernel.Dense{K: kernel.LinearGram(x)}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	scores := m.Scores()
	fmt.Printf("%.3f %.3f\n", m.Eigenvalues, math.Abs(scores.Row(2)[0]-scores.Row(0)[0]))
	// Output: [50.000] 10.000
}
