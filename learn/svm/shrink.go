package svm

import (
	"slices"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// shrinkEvery is the number of iterations between two looks for coefficients to set
// aside, or the number of coefficients if that is less, as in LIBSVM.
const shrinkEvery = 1000

// aside is the problem as it was before coefficients were set aside (LIBSVM
// section 5.1). While a solver is shrunken, all its slices belong to the
// active coefficients, in their order; the others stay at the bound they are
// at, and their gradient is not followed.
type aside struct {
	problem
	diagonal, coef   []float64
	before, gradient []float64 // coefficients and gradient when the first were set aside
	active           []int     // ascending
}

// store takes over the active coefficients.
func (a *aside) store(coef []float64) {
	for k, t := range a.active {
		a.coef[t] = coef[k]
	}
}

// shrink sets aside the coefficients at a bound that the last scan does not
// expect to leave it: those that only could grow and whose gradient is above
// the gradients of all that could shrink, and the reverse. When fewer than a tenth are,
// it does nothing.
func (s *solver[T]) shrink() {
	keep := make([]int, 0, len(s.coef))
	split := s.split
	for _, p := range s.parts {
		for t := p.lo; t < p.hi; t++ {
			if !s.settled(p, t) {
				keep = append(keep, t)
			}
		}
		if p.lo == 0 && s.split > 0 {
			split = len(keep)
		}
	}
	if 10*len(keep) > 9*len(s.coef) || s.split > 0 && (split == 0 || split == len(keep)) {
		return
	}
	if s.aside == nil {
		s.aside = &aside{
			problem: s.problem, diagonal: s.diagonal, coef: s.coef,
			before: slices.Clone(s.coef), gradient: s.gradient, active: keep,
		}
	} else {
		s.aside.store(s.coef)
		s.aside.active = linalg.At(s.aside.active, keep)
	}
	s.problem = problem{
		kernel: kernel.Subset(s.aside.kernel, s.aside.active),
		linear: linalg.At(s.linear, keep), lower: linalg.At(s.lower, keep), upper: linalg.At(s.upper, keep), split: split,
	}
	s.diagonal, s.coef, s.gradient = linalg.At(s.diagonal, keep), linalg.At(s.coef, keep), linalg.At(s.gradient, keep)
	s.place = linalg.At(s.place, keep)
	s.rows.shrink(s.kernel, keep)
	s.divide()
}

// settled reports whether coefficient t of part p is unlikely to move.
func (s *solver[T]) settled(p part, t int) bool {
	f, b := s.gradient[t], s.coef[t]
	return b >= s.upper[t] && f < p.low || b <= s.lower[t] && f > p.high
}

// restore takes back what was set aside, and has the gradient follow what has
// changed since; or computes it afresh where nothing was set aside.
func (s *solver[T]) restore() error {
	a := s.aside
	if a == nil {
		return s.refresh()
	}
	a.store(s.coef)
	s.problem, s.diagonal, s.coef, s.gradient = a.problem, a.diagonal, a.coef, a.gradient
	s.aside = nil
	s.settle()
	s.rows.reset(s.kernel)
	s.divide()
	return s.follow(a.before)
}
