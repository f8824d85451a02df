package komd

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// patience is the number of consecutive exchanges that can fail to reduce the number of wrong signs.
// Then Simplex exchanges one variable at a time until the number falls, a method that always ends.
const patience = 5

// maxPivots is the greatest number of exchanges. Four exchanges are usual.
const maxPivots = 1000

// ErrNotConvex reports a quadratic form that is not positive definite, so that it can have several minima. Then
// an entry of the kernel is wrong or an estimate: for example, it is not a sum over users.
var ErrNotConvex = errors.New("komd: the kernel among the liked items is not positive definite")

// Simplex returns the minimiser of 1/2 a^T P a - q^T a over a >= 0 with sum a = 1. P (n x n) is
// symmetric and positive definite, otherwise the error matches [ErrNotConvex]; q has n >= 1 finite
// values. Simplex changes neither.
//
// The method is block principal pivoting (Judice and Pires 1994): guess which a_i are positive,
// solve for these a_i, and exchange all variables with the wrong sign.
func Simplex(p linalg.Matrix[float64], q []float64) ([]float64, error) {
	if err := checkForm(p, q); err != nil {
		return nil, err
	}
	s := newPivoting(p, q)
	best, left := len(q)+1, patience
	for range maxPivots {
		if err := s.solve(); err != nil {
			return nil, err
		}
		wrong := s.violations()
		switch {
		case len(wrong) == 0:
			return s.weights(), nil
		case len(wrong) < best:
			best, left = len(wrong), patience
		case left > 0:
			left--
		default:
			wrong = wrong[len(wrong)-1:]
		}
		s.exchange(wrong)
	}
	return nil, fmt.Errorf("komd: the minimum is not found after %d exchanges; check that the values are finite", maxPivots)
}

func checkForm(p linalg.Matrix[float64], q []float64) error {
	if len(q) == 0 || p.Rows != len(q) || p.Cols != len(q) {
		return fmt.Errorf("komd: the quadratic form is %d x %d and has %d linear terms; the numbers must be equal", p.Rows, p.Cols, len(q))
	}
	return nil
}

// pivoting is the state of the search for the minimum.
type pivoting struct {
	p       linalg.Matrix[float64]
	q       []float64
	free    []bool    // variables a_i that can be positive
	a       []float64 // solution for the free variables
	nu      float64   // multiplier of the constraint on the sum
	epsilon float64   // smallest magnitude of a number that counts as negative
}

func newPivoting(p linalg.Matrix[float64], q []float64) *pivoting {
	s := &pivoting{p: p, q: q, free: make([]bool, len(q)), a: make([]float64, len(q))}
	largest := 1.0
	for i, v := range q {
		s.free[i] = true
		largest = max(largest, math.Abs(v))
	}
	s.epsilon = 1e-12 * largest
	return s
}

// solve finds the minimum over the free variables with sum 1 by solving P a = q + nu. It ignores
// the signs of the variables.
func (s *pivoting) solve() error {
	index := s.index()
	f := linalg.New[float64](len(index), len(index))
	right := linalg.New[float64](2, len(index)) // right-hand sides of the two linear systems: q, and a vector of ones
	for r, i := range index {
		for c, j := range index[:r+1] {
			f.Row(r)[c] = s.p.Row(i)[j]
		}
		right.Row(0)[r], right.Row(1)[r] = s.q[i], 1
	}
	if err := linalg.Cholesky(f); err != nil {
		return fmt.Errorf("%w: %w", ErrNotConvex, err)
	}
	linalg.SolveCholesky(f, right)
	s.nu = (1 - linalg.Sum(right.Row(0))) / linalg.Sum(right.Row(1))
	clear(s.a)
	for r, i := range index {
		s.a[i] = right.Row(0)[r] + s.nu*right.Row(1)[r]
	}
	return nil
}

func (s *pivoting) index() (index []int) {
	for i, free := range s.free {
		if free {
			index = append(index, i)
		}
	}
	return index
}

// violations returns the variables that violate the optimality conditions. They are free variables
// below 0, and other variables whose growth would lower the objective.
func (s *pivoting) violations() (wrong []int) {
	for i, free := range s.free {
		if free && s.a[i] < -s.epsilon || !free && s.slack(i) < -s.epsilon {
			wrong = append(wrong, i)
		}
	}
	return wrong
}

func (s *pivoting) slack(i int) float64 {
	sum := -s.q[i] - s.nu
	for j, a := range s.a {
		sum += s.p.Row(i)[j] * a
	}
	return sum
}

// exchange changes each listed variable from free to fixed at 0, or from fixed to free. At least
// one variable is free afterwards, since the sum is 1.
func (s *pivoting) exchange(list []int) {
	for _, i := range list {
		s.free[i] = !s.free[i]
	}
	if len(s.index()) > 0 {
		return
	}
	best := 0
	for i, v := range s.q {
		if v > s.q[best] {
			best = i
		}
	}
	s.free[best] = true
}

// weights returns the solution, with values that rounding left below 0 set to 0.
func (s *pivoting) weights() []float64 {
	for i, a := range s.a {
		s.a[i] = max(0, a)
	}
	total := linalg.Sum(s.a)
	for i := range s.a {
		s.a[i] /= total
	}
	return s.a
}
