package moments

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// Solution is the result of learning with one alpha: outputs that are linear in the
// features.
type Solution struct {
	Alpha   float64
	Weights linalg.Matrix[float64] // outputs x features
	Offset  []float64              // added to the outputs
}

// Solve returns the regressions of the classes: (A + alpha M/2 I)^-1 B, M features.
// That is kernel ridge regression with the kernel 2/M phi.phi and that alpha.
func Solve(s *Sums, alpha float64) (Solution, error) {
	b := linalg.New[float64](s.Cross.Rows, s.Cross.Cols)
	for k, v := range s.Cross.Data {
		b.Data[k] = v / (One * One)
	}
	return solve(s, b, make([]float64, b.Rows), alpha)
}

// Regress returns the regression of the number to predict, in its unit: kernel ridge regression with the kernel 2/M phi.phi on what is
// left when the mean is taken off, to which the mean is added. With the noise of
// measurements for alpha, its unit the variance of the numbers, it is the mean
// of a Gaussian process. The targets are [Numbers].
func Regress(s *Sums, r Range, alpha float64) (Solution, error) {
	mean := s.mean()
	b := linalg.New[float64](1, s.Cross.Cols)
	for k, v := range s.Cross.Row(1) {
		b.Data[k] = r.half() * (v - mean*s.Cross.Row(0)[k]) / (One * One)
	}
	return solve(s, b, []float64{r.middle() + r.half()*mean}, alpha)
}

// solve returns (A + alpha M/2 I)^-1 B.
func solve(s *Sums, b linalg.Matrix[float64], offset []float64, alpha float64) (Solution, error) {
	if !(alpha > 0) || math.IsInf(alpha, 1) {
		return Solution{}, fmt.Errorf("moments: alpha is %v; it must be above 0", alpha)
	}
	l, err := factor(s.Outer, alpha*float64(s.Outer.Rows)/2)
	if err != nil {
		return Solution{}, fmt.Errorf("moments: alpha %v is too small for these sums: %w", alpha, err)
	}
	linalg.SolveCholesky(l, b)
	return Solution{alpha, b, offset}, nil
}

// factor returns the Cholesky factor of A + shift I; outer is A One^2.
func factor(outer linalg.Matrix[float64], shift float64) (linalg.Matrix[float64], error) {
	l := linalg.New[float64](outer.Rows, outer.Cols)
	for i := range l.Rows {
		for j, v := range outer.Row(i) {
			l.Row(i)[j] = v / (One * One)
		}
		l.Row(i)[i] += shift
	}
	return l, linalg.Cholesky(l)
}

// Decisions returns the outputs at rows: rows x outputs.
func (s Solution) Decisions(m feature.Map, x linalg.Matrix[float64]) linalg.Matrix[float64] {
	phi := linalg.New[float64](x.Rows, m.Len())
	m.Rows(phi, x)
	return s.At(phi)
}

// At is Decisions for rows whose features are made, rows x features.
func (s Solution) At(phi linalg.Matrix[float64]) linalg.Matrix[float64] {
	f := linalg.New[float64](phi.Rows, s.Weights.Rows)
	linalg.MulTransB(f, phi, s.Weights)
	for i := range f.Rows {
		for k, v := range s.Offset {
			f.Row(i)[k] += v
		}
	}
	return f
}

// eachPanel makes the features of rows, some at a time.
func eachPanel(m feature.Map, rows linalg.Rows, use func(lo int, phi linalg.Matrix[float64])) {
	n, _ := rows.Shape()
	for lo := 0; lo < n; lo += panelRows {
		hi := min(lo+panelRows, n)
		x, phi := linalg.New[float64](hi-lo, m.Width()), linalg.New[float64](hi-lo, m.Len())
		linalg.Gather(x, rows, lo)
		m.Rows(phi, x)
		use(lo, phi)
	}
}
