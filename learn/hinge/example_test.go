package hinge_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/learn/hinge"
)

// Four rows with a bias are told apart, of which the trainer sees the sums alone.
func Example() {
	rows, labels := [][]float64{{1, 1}, {2, 1}, {-1, 1}, {-2, 1}}, []float64{1, 1, -1, -1}
	t, err := hinge.New(hinge.Spec{Lambda: 0.1}, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 100 {
		w, sum := t.Weights(), make([]float64, 2)
		for i, x := range rows {
			if y := labels[i]; y*(w[0]*x[0]+w[1]*x[1]) < 1 {
				sum[0], sum[1] = sum[0]+y*x[0], sum[1]+y*x[1]
			}
		}
		if err := t.Step(sum, float64(len(rows))); err != nil {
			fmt.Println(err)
			return
		}
	}
	w := t.Mean()
	for _, x := range [][]float64{{3, 1}, {-3, 1}} {
		fmt.Println(w[0]*x[0]+w[1]*x[1] > 0)
	}
	// Output:
	// true
	// false
}
