package ridge_test

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
)

// eliminate solves a x = y by Gauss' elimination with the largest pivot of each
// column, and returns the logarithm of |det a| as well. It spoils both.
func eliminate(a linalg.Matrix[float64], y []float64) (x []float64, logDet float64) {
	n := a.Rows
	for c := range n {
		p := c
		for r := c; r < n; r++ {
			if math.Abs(a.Row(r)[c]) > math.Abs(a.Row(p)[c]) {
				p = r
			}
		}
		for j := range n {
			a.Row(c)[j], a.Row(p)[j] = a.Row(p)[j], a.Row(c)[j]
		}
		y[c], y[p] = y[p], y[c]
		logDet += math.Log(math.Abs(a.Row(c)[c]))
		for r := c + 1; r < n; r++ {
			m := a.Row(r)[c] / a.Row(c)[c]
			for j := c; j < n; j++ {
				a.Row(r)[j] -= m * a.Row(c)[j]
			}
			y[r] -= m * y[c]
		}
	}
	x = make([]float64, n)
	for r := n - 1; r >= 0; r-- {
		x[r] = y[r]
		for j := r + 1; j < n; j++ {
			x[r] -= a.Row(r)[j] * x[j]
		}
		x[r] /= a.Row(r)[r]
	}
	return x, logDet
}

// TestEqualsGauss: the coefficients of both learners and the likelihood, for
// sizes around the block sizes of the factorisation.
func TestEqualsGauss(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, n := range []int{1, 2, 3, 17, 63, 64, 65, 127, 129, 200, 300} {
		x, y := noise(n, 3, uint64(n)), noise(1, n, uint64(n)+1).Data
		k := rbf(x, x)
		for _, shift := range []float64{0.01, 1, 30} {
			const amplitude = 2.5
			compare := func(scale float64, got []float64) (logDet float64) {
				t.Helper()
				a := linalg.New[float64](n, n)
				for i := range n {
					for j, v := range k.Row(i) {
						a.Row(i)[j] = scale * v
					}
					a.Row(i)[i] += shift
				}
				want, logDet := eliminate(a, append([]float64(nil), y...))
				for i, w := range want {
					if math.Abs(got[i]-w) > 1e-9*(1+math.Abs(w)) {
						t.Fatalf("n %d, shift %v: coefficient %d is %v, want %v", n, shift, i, got[i], w)
					}
				}
				return logDet
			}
			m, err := ridge.Fit(kernel.Dense{K: k}, y, shift)
			if err != nil {
				t.Fatal(err)
			}
			compare(1, m.Dual)
			gp, err := ridge.FitGP(kernel.Dense{K: k}, y, ridge.GPParams{Amplitude: amplitude, Noise: shift})
			if err != nil {
				t.Fatal(err)
			}
			fit := compare(amplitude, gp.Dual) + float64(n)*math.Log(2*math.Pi)
			for i, v := range y {
				fit += v * gp.Dual[i]
			}
			if got, want := gp.LogMarginalLikelihood, -fit/2; math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("n %d, noise %v: likelihood %v, want %v", n, shift, got, want)
			}
		}
	}
}
