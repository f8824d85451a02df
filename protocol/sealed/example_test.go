package sealed_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol/sealed"
)

// A ridge regression of 32 rows on one feature, which is 1 in every row, and one target, which is 1 in 24 rows
// and -1 in 8: the sums are A = 32 and B = 16, and the weight is 16/(32 + .32).
func ExampleSolvePlain() {
	p, err := sealed.NewProblem(32, 1, 1, .01)
	if err != nil {
		panic(err)
	}
	unit := int64(1) << (2 * p.CellBits())
	w, err := sealed.SolvePlain(p, []int64{32 * unit}, []int64{16 * unit})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d steps, weight %.4f\n", p.Plan.Steps, w.Data[0])
	// Output: 48 steps, weight 0.4950
}
