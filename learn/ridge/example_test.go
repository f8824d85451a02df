package ridge_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
)

// A Gaussian process on the linear kernel finds the slope 2, and doubts it the more the
// farther a row lies from 0.
func Example() {
	x := linalg.Matrix[float64]{Rows: 3, Cols: 1, Stride: 1, Data: []float64{1, 2, 3}}
	gp, err := ridge.FitGP(kernel.Dense{K: kernel.LinearGram(x)}, []float64{2, 4, 6}, ridge.GPParams{Noise: 0.01})
	if err != nil {
		fmt.Println(err)
		return
	}
	added := linalg.Matrix[float64]{Rows: 2, Cols: 1, Stride: 1, Data: []float64{4, 40}}
	cross, prior := kernel.CrossGram(added, x), kernel.SquaredNorms(added)
	fmt.Printf("%.1f %.2f\n", gp.Predict(cross), gp.Deviations(cross, prior))
	// Output: [8.0 79.9] [0.15 1.07]
}
