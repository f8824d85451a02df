package sealed_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/sealed"
)

// A ridge regression of 32 rows on one feature, which is 1 in every row, and one target, which is 1 in 24 rows
// and -1 in 8: the sums are A = 32 and B = 16, and the weight is 16/(32 + .32).
func ExampleSolvePlain() {
	p, err := sealed.NewProblem(32, 1, 1, .01)
	if err != nil {
		panic(err)
	}
	features, targets := linalg.New[float64](1, 32), linalg.New[float64](1, 32)
	for i := range 32 {
		features.Data[i], targets.Data[i] = 1, 1
		if i >= 24 {
			targets.Data[i] = -1
		}
	}
	party, err := sealed.NewAccumulator(p)
	if err != nil {
		panic(err)
	}
	if err := party.Add(features, targets); err != nil {
		panic(err)
	}
	outer, cross := party.Sums()
	w, err := sealed.SolvePlain(p, outer, cross)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d steps, weight %.4f\n", p.Plan.Steps, w.Data[0])
	// Output: 48 steps, weight 0.4950
}
