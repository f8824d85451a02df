package svm

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// NuParams are the parameters of nu-SVC and of the one-class SVM.
type NuParams struct {
	// Nu is an upper bound on the share of margin errors among the training rows, or of outliers
	// for a one-class machine. It is also a lower bound on the share of support vectors. It is
	// above 0 and at most 1.
	Nu float64
	// RowWeights holds the weight of each row, as in Params. With weights, the shares that Nu bounds
	// are shares of the sum of all weights.
	RowWeights []float64
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
	return cmp.Or(checkNu(p.Nu), p.shared().checkCommon())
}

func checkNu(nu float64) error {
	if !(nu > 0 && nu <= 1) {
		return fmt.Errorf("svm: nu is %v; it must be above 0 and at most 1", nu)
	}
	return nil
}

// TrainOneClass finds a region that contains the rows of src except for at most a share Nu (LIBSVM
// equation 7). As in LIBSVM the coefficients add up to Nu n, each at most 1; with weights, they add
// up to Nu times the sum of the weights, each at most the weight of its row. Unlike in LIBSVM, Tol
// is multiplied by that sum if it is below 1: such a small sum makes every gap small, so that
// training would stop before its first step. A training that reaches MaxIter returns its machine
// beside an error that wraps [ErrNotConverged].
func TrainOneClass(src kernel.Source, p NuParams) (*Machine, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if src.Len() == 0 {
		return nil, errNoRows
	}
	w, err := leaveOut(src, p.RowWeights)
	if err != nil {
		return nil, err
	}
	shared, total := p.shared(), p.Nu*linalg.Sum(w.weights)
	shared.Tol *= min(1, total) // a small sum of coefficients makes every gap small
	s, err := solve(oneClass(w.source, w.weights, total), shared.stopping(len(w.rows)), shared.CacheBytes)
	if leavesNothing(err) {
		return nil, w.describe(err)
	}
	return w.machine(s.coef, s), w.describe(err)
}

// oneClass returns the problem of a one-class machine whose coefficients add up to total.
func oneClass(src kernel.Source, weights []float64, total float64) problem {
	n := src.Len()
	q := problem{kernel: src, linear: make([]float64, n), lower: make([]float64, n), upper: weights, start: make([]float64, n)}
	fillUp(q.start, q.upper, total)
	return q
}

// fillUp raises coefficients to their bounds, in order, until their sum is amount. The last coefficient
// that is raised can stay below its bound, but not by a mere rounding error, because it would then count
// as free.
func fillUp(coef, upper []float64, amount float64) {
	near := rounding * amount
	for i, bound := range upper {
		coef[i] = bound
		if amount < bound-near {
			coef[i] = max(amount, 0)
		}
		amount -= coef[i]
	}
}

// TrainNuSVC trains a nu-SVC for every pair of classes (LIBSVM equation 4). It is like [TrainSVC]
// with Nu instead of C. A pair whose smaller class has less than Nu / 2 of the weight of the pair's
// rows has no solution and is an error. The coefficients are LIBSVM's: they belong to the C-SVC with
// the same solution. The C of that C-SVC is the largest coefficient if all weights are 1.
func TrainNuSVC(src kernel.Source, codes []int, classes []string, p NuParams, progress func(done, total int) error) (*Classifier, error) {
	t, err := newNuSVC(src, codes, classes, p, progress)
	if err != nil {
		return nil, err
	}
	return t.run()
}

// newNuSVC returns a trainer for a nu-SVC.
func newNuSVC(src kernel.Source, codes []int, classes []string, p NuParams, progress func(done, total int) error) (*trainer, error) {
	weights, err := rowWeights(src.Len(), p.RowWeights)
	if err != nil {
		return nil, err
	}
	if err := checkLabels(weights, codes, classes); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	t := newTrainer(src, codes, classes, p.shared(), weights, progress)
	t.solvePair = func(_ int, d twoClasses, stop stopping) (solution, error) {
		return solveNuSVC(d, p.Nu, stop, t.cache)
	}
	return t, nil
}

// solveNuSVC trains one machine of a nu-SVC. It moves the rows of the first class to the front, so
// that each of the two sums of coefficients is over one range.
func solveNuSVC(d twoClasses, nu float64, stop stopping, cache int64) (solution, error) {
	order, split := sides(d.first)
	ordered := d.of(order)
	total, small := linalg.Sum(d.weights), min(linalg.Sum(ordered.weights[:split]), linalg.Sum(ordered.weights[split:]))
	half := nu * total / 2
	if half > small*(1+rounding) {
		unit := "rows"
		if slices.ContainsFunc(d.weights, func(w float64) bool { return w != 1 }) {
			unit = "units of weight"
		}
		return solution{}, &ParameterError{"nu", fmt.Errorf("nu is %v; with %v of %v %s in the smaller class, nu can be at most %v", nu, small, total, unit, 2*small/total)}
	}
	q := cSVC(ordered.source, ordered.first, 1, 1)
	q.weigh(ordered.weights)
	clear(q.linear)
	q.start, q.split = make([]float64, len(order)), split
	fillUp(q.start[:split], q.upper[:split], half)
	fillUp(q.start[split:], ordered.weights[split:], half)
	for i := split; i < len(order); i++ {
		q.start[i] = -q.start[i]
	}
	s, unconverged := solve(q, stop, cache)
	if leavesNothing(unconverged) {
		return solution{}, renumber(unconverged, order)
	}
	s, err := s.scaled(order)
	return s, cmp.Or(err, unconverged)
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
		return solution{}, fmt.Errorf("the margin between the classes is %v, which is too small; use a larger nu, or scale the data so that kernel values are near 1", s.margin)
	}
	out := s
	out.rho, out.objective = s.rho/s.margin, s.objective/(s.margin*s.margin)
	out.coef = make([]float64, len(s.coef))
	for a, i := range order {
		out.coef[i] = s.coef[a] / s.margin
	}
	return out, nil
}
