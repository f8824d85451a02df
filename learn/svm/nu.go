package svm

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// NuParams are the parameters of nu-SVC and of the one-class SVM.
type NuParams struct {
	// Nu is an upper bound on the share of margin errors among the training rows, or of outliers
	// for a one-class machine. It is also a lower bound on the share of support vectors. It is
	// above 0 and at most 1.
	Nu         float64
	Tol        float64      // as in Params
	CacheBytes int64        // as in Params
	MaxIter    int          // as in Params
	Interrupt  func() error // as in Params
}

func (p NuParams) shared() Params {
	return Params{C: 1, Tol: p.Tol, CacheBytes: p.CacheBytes, MaxIter: p.MaxIter, Interrupt: p.Interrupt}.filled()
}

// Validate checks p. Its errors name the field.
func (p NuParams) Validate() error {
	if !(p.Nu > 0 && p.Nu <= 1) {
		return fmt.Errorf("svm: nu is %v; it must be above 0 and at most 1", p.Nu)
	}
	return p.shared().checkCommon()
}

// TrainOneClass finds a region that contains the rows of src except for at most a share Nu (LIBSVM
// equation 7). As in LIBSVM the coefficients add up to Nu n, each at most 1. Unlike in LIBSVM, Tol
// is multiplied by Nu n if that sum is below 1: such a small sum makes every gap small, so that
// training would stop before its first step.
func TrainOneClass(src kernel.Source, p NuParams) (*Machine, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	n := src.Len()
	if n == 0 {
		return nil, fmt.Errorf("svm: there are no rows to learn from")
	}
	shared := p.shared()
	shared.Tol *= min(1, p.Nu*float64(n)) // a small sum of coefficients makes every gap small
	s, err := solve(oneClass(src, p.Nu), shared.stopping(n), shared.CacheBytes)
	if err != nil {
		return nil, describeError(err, func(row int) int { return row })
	}
	return newMachine(s.coef, s), nil
}

func oneClass(src kernel.Source, nu float64) problem {
	n := src.Len()
	q := problem{kernel: src, linear: make([]float64, n), lower: make([]float64, n), upper: make([]float64, n), start: make([]float64, n)}
	for i := range q.upper {
		q.upper[i] = 1
	}
	fillUp(q.start, nu*float64(n))
	return q
}

// fillUp sets coefficients to 1, in order, until their sum is amount. The last one may get less.
func fillUp(coef []float64, amount float64) {
	for i := range coef {
		coef[i] = min(amount, 1)
		amount -= coef[i]
	}
}

// TrainNuSVC trains a nu-SVC for every pair of classes (LIBSVM equation 4). It is like [TrainSVC]
// with Nu instead of C. A pair whose smaller class has fewer than Nu / 2 of the pair's rows has no
// solution and is an error. The coefficients are LIBSVM's: they belong to the C-SVC with the same
// solution. The C of that C-SVC is the largest coefficient.
func TrainNuSVC(src kernel.Source, codes []int, classes []string, p NuParams, progress func(done, total int) error) (*Classifier, error) {
	t, err := newNuSVC(src, codes, classes, p, progress)
	if err != nil {
		return nil, err
	}
	return t.run()
}

// newNuSVC returns a trainer for a nu-SVC.
func newNuSVC(src kernel.Source, codes []int, classes []string, p NuParams, progress func(done, total int) error) (*trainer, error) {
	if err := checkLabels(src.Len(), codes, classes); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	t := newTrainer(src, codes, classes, p.shared(), progress)
	t.solvePair = func(_ int, k kernel.Source, first []bool, stop stopping) (solution, error) {
		return solveNuSVC(k, first, p.Nu, stop, t.cache)
	}
	return t, nil
}

// solveNuSVC trains one machine of a nu-SVC. It moves the rows of the first class to the front, so
// that each of the two sums of coefficients is over one range.
func solveNuSVC(k kernel.Source, first []bool, nu float64, stop stopping, cache int64) (solution, error) {
	order, split := sides(first)
	n := len(order)
	half := nu * float64(n) / 2
	if small := min(split, n-split); half > float64(small) {
		return solution{}, fmt.Errorf("nu is %v; with %d of %d rows in the smaller class, nu can be at most %v", nu, small, n, 2*float64(small)/float64(n))
	}
	q := cSVC(kernel.Subset(k, order), linalg.At(first, order), 1, 1)
	clear(q.linear)
	q.start, q.split = make([]float64, n), split
	fillUp(q.start[:split], half)
	fillUp(q.start[split:], half)
	for i := split; i < n; i++ {
		q.start[i] = -q.start[i]
	}
	s, err := solve(q, stop, cache)
	if err != nil {
		return solution{}, renumber(err, order)
	}
	return s.scaled(order)
}

// sides returns all row indices, with the rows of the first class at the front. There are split
// rows of the first class. Within each class the indices ascend.
func sides(first []bool) (order []int, split int) {
	for _, side := range []bool{true, false} {
		for i, is := range first {
			if is == side {
				order = append(order, i)
			}
		}
		if side {
			split = len(order)
		}
	}
	return order, split
}

// scaled rescales a solution so that its margin is 1, as in C-SVC. It also restores the order of
// rows.
func (s solution) scaled(order []int) (solution, error) {
	if !(s.margin > 0) || math.IsInf(1/(s.margin*s.margin), 1) {
		return solution{}, fmt.Errorf("the margin between the classes is %v, which is too small; use a smaller nu", s.margin)
	}
	out := s
	out.rho, out.objective = s.rho/s.margin, s.objective/(s.margin*s.margin)
	out.coef = make([]float64, len(s.coef))
	for a, i := range order {
		out.coef[i] = s.coef[a] / s.margin
	}
	return out, nil
}
