package dataset

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
)

// The further a column's mean is from zero, in its deviations, the less an RBF kernel of inner products
// sees of its differences. With float64 rows the largest relative error of a kernel value grows with
// the square of that ratio, and passes 1e-6 between 30,000 and 100,000. With float32 rows, as OKRA
// sends them by default, it grows in proportion.
func TestTheKernelsErrorFarFromZero(t *testing.T) {
	for _, tt := range []struct{ ratio, above64, below64, above32, below32 float64 }{
		{1e2, 0, 1e-11, 1e-6, 1e-4},
		{1e3, 1e-11, 1e-9, 1e-5, 1e-3},
		{1e4, 1e-9, 1e-7, 1e-4, 1e-2},
		{3e4, 1e-8, 1e-6, 1e-3, 2e-2},
		{mostDistant, 1e-6, 1e-5, 5e-3, 5e-2},
		{1e6, 1e-5, 1e-3, 5e-2, 0.5},
	} {
		single, double := kernelErrors(t, tt.ratio)
		t.Logf("mean of %.0e deviations: float64 %.1e, float32 %.1e", tt.ratio, double, single)
		if !(double >= tt.above64 && double <= tt.below64 && single >= tt.above32 && single <= tt.below32) {
			t.Errorf("mean of %.0e deviations: the error is %.1e with float64 rows and %.1e with float32 rows, outside %.0e to %.0e and %.0e to %.0e",
				tt.ratio, double, single, tt.above64, tt.below64, tt.above32, tt.below32)
		}
	}
}

// kernelErrors returns the largest relative error of an RBF kernel over pairs of one normal column
// with deviation 1, whose rows are float32 or float64. The pairs differ by at most three deviations.
func kernelErrors(t *testing.T, mean float64) (single, double float64) {
	t.Helper()
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([]float64, 100)
	for i := range rows {
		rows[i] = mean + r.NormFloat64()
	}
	for i, x := range rows {
		for _, z := range rows[:i] {
			if math.Abs(x-z) > 3 {
				continue
			}
			exact := math.Exp(-(x - z) * (x - z) / 2)
			double = max(double, math.Abs(k.At(x*z, x*x, z*z)/exact-1))
			x32, z32 := float64(float32(x)), float64(float32(z))
			single = max(single, math.Abs(k.At(x32*z32, x32*x32, z32*z32)/exact-1))
		}
	}
	return single, double
}
