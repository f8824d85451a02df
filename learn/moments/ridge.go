package moments

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// Solution is the ridge regressions for one alpha.
type Solution struct {
	Alpha   float64
	Weights linalg.Matrix[float64] // classes x features
}

// Solve returns (A + alpha M/2 I)^-1 B for each alpha, M features: kernel ridge
// regression with the kernel 2/M phi.phi and that alpha.
func Solve(s *Sums, alphas []float64) ([]Solution, error) {
	path := make([]Solution, len(alphas))
	for i, alpha := range alphas {
		if !(alpha > 0) || math.IsInf(alpha, 1) {
			return nil, fmt.Errorf("moments: alpha is %v; it must be above 0", alpha)
		}
		l, err := factor(s, alpha*float64(s.Outer.Rows)/2)
		if err != nil {
			return nil, fmt.Errorf("moments: alpha %v is too small for these sums: %w", alpha, err)
		}
		w := linalg.New[float64](s.Cross.Rows, s.Cross.Cols)
		for k, v := range s.Cross.Data {
			w.Data[k] = v / One
		}
		linalg.SolveCholesky(l, w)
		path[i] = Solution{alpha, w}
	}
	return path, nil
}

// factor is the Cholesky factor of A + shift I.
func factor(s *Sums, shift float64) (linalg.Matrix[float64], error) {
	l := linalg.New[float64](s.Outer.Rows, s.Outer.Cols)
	for k, v := range s.Outer.Data {
		l.Data[k] = v / (One * One)
	}
	for i := range l.Rows {
		l.Row(i)[i] += shift
	}
	return l, linalg.Cholesky(l)
}

// Decisions are the values of the regressions at rows: rows x classes.
func (s Solution) Decisions(m feature.Map, x linalg.Matrix[float64]) linalg.Matrix[float64] {
	phi := linalg.New[float64](x.Rows, m.Len())
	m.Rows(phi, x)
	return s.at(phi)
}

// at is Decisions for rows whose features are made.
func (s Solution) at(phi linalg.Matrix[float64]) linalg.Matrix[float64] {
	f := linalg.New[float64](phi.Rows, s.Weights.Rows)
	linalg.MulTransB(f, phi, s.Weights)
	return f
}

// Clip is where decisions are cut off before their errors are squared, so that
// one row's error is bounded. SquaredOne is how a squared error of 1 is written.
const (
	Clip         = 2
	SquaredOne   = 1 << 16
	SquaredBound = MaxRows * (Clip + 1) * (Clip + 1) * SquaredOne
)

// Errors are sums over held-out rows in whole numbers.
type Errors struct {
	Rows    int64
	Correct []int64 // rows that get their class, for each solution
	Squared []int64 // squared errors in 1/SquaredOne, for each solution and class
}

// Measure sums the errors of a path of solutions over rows.
func Measure(m feature.Map, path []Solution, rows linalg.Rows, codes []int) (*Errors, error) {
	n, width := rows.Shape()
	if len(path) == 0 {
		return nil, errors.New("moments: no solution to measure")
	}
	if n > MaxRows || len(codes) != n || width != m.Width() {
		return nil, fmt.Errorf("moments: %d x %d rows to measure, %d classes of rows, features of %d columns", n, width, len(codes), m.Width())
	}
	classes := path[0].Weights.Rows
	e := &Errors{Rows: int64(n), Correct: make([]int64, len(path)), Squared: make([]int64, len(path)*classes)}
	eachPanel(m, rows, func(lo int, phi linalg.Matrix[float64]) {
		for k, s := range path {
			f := s.at(phi)
			for i := range f.Rows {
				e.add(k, f.Row(i), codes[lo+i])
			}
		}
	})
	return e, nil
}

// add adds one row's errors to those of solution k.
func (e *Errors) add(k int, decisions []float64, code int) {
	if Predict(decisions) == code {
		e.Correct[k]++
	}
	for c, f := range decisions {
		y := -1.0
		if c == code {
			y = 1
		}
		d := min(max(f, -Clip), Clip) - y
		e.Squared[k*len(decisions)+c] += int64(math.RoundToEven(d * d * SquaredOne))
	}
}

// Predict returns the class with the largest decision, the first of several.
func Predict(decisions []float64) int {
	best := 0
	for c, f := range decisions {
		if f > decisions[best] {
			best = c
		}
	}
	return best
}

// Best returns the solution with the most correct rows and, among several such,
// the least squared error, or the first.
func (e *Errors) Best() int {
	classes := len(e.Squared) / len(e.Correct)
	squared := func(k int) (sum int64) {
		for _, v := range e.Squared[k*classes : (k+1)*classes] {
			sum += v
		}
		return sum
	}
	best := 0
	for k := range e.Correct {
		if e.Correct[k] > e.Correct[best] || e.Correct[k] == e.Correct[best] && squared(k) < squared(best) {
			best = k
		}
	}
	return best
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
