package svm

import (
	"container/heap"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// tau replaces a curvature that is not positive, as in LIBSVM. Such a curvature occurs with
// duplicate rows and with kernels that are not positive semidefinite.
const tau = 1e-12

// problem is the quadratic programme of a support vector machine. LIBSVM writes it as
//
//	min 1/2 a'Qa + p'a,  y'a constant,  0 <= a_i <= C_i,  Q_ij = y_i y_j K_ij.
//
// Here it has the signed coefficients b_i = y_i a_i, the sv_coef of a model:
//
//	min 1/2 b'Kb + q'b,  sum b constant,  lower_i <= b_i <= upper_i,
//
// with q_i = y_i p_i, and [lower, upper] = [0, C_i] where y_i = 1, [-C_i, 0]
// where y_i = -1. The gradient f = Kb + q is y_i times LIBSVM's G_i.
type problem struct {
	kernel       kernel.Source
	linear       []float64 // vector q
	lower, upper []float64
	start        []float64 // initial b, which meets all constraints; nil means 0
	// split is the number of coefficients in the first of two parts, or 0 if there is only one
	// part. The sum of each part is constant. Two parts make the two equality constraints of
	// nu-SVC.
	split int
}

// solution is a minimum of a problem and its multipliers.
type solution struct {
	coef       []float64 // vector b
	bounded    int       // number of coefficients at a bound other than 0
	rho        float64   // multiplier of the sum constraint; with two parts, the mean of both multipliers
	margin     float64   // with two parts, half the difference of both multipliers; else 0
	objective  float64
	gap        float64 // remaining violation of optimality, LIBSVM's m - M; at least 0
	iterations int
}

// report converts the solution to a report.
func (s solution) report() Report {
	r := Report{Objective: s.objective, Gap: s.gap, Iterations: s.iterations, Bounded: s.bounded, Margin: s.margin}
	for _, b := range s.coef {
		if b != 0 {
			r.Support++
		}
	}
	return r
}

// stopping holds the conditions under which a solver stops.
type stopping struct {
	tol        float64
	iterations int
	interrupt  func() error // its error ends the training; nil means that nothing interrupts it
}

// interrupted returns the error of interrupt, if there is one.
func (s stopping) interrupted() error {
	if s.interrupt == nil {
		return nil
	}
	return s.interrupt()
}

// solve minimises the problem p and keeps at most cacheBytes of kernel rows in memory, but always two rows. It
// returns an error if it reads a kernel value that is not finite. If the training ends before it meets the
// tolerance, solve returns ErrNotConverged, wrapped, beside the solution at which the training ended.
//
// The rows of a kernel that computes panels are stored in float32, as in LIBSVM. They take half the
// memory, and half the time to read.
func solve(p problem, stop stopping, cacheBytes int64) (solution, error) {
	if _, ok := p.kernel.(kernel.Panels); ok {
		return solveIn[float32](p, stop, cacheBytes)
	}
	return solveIn[float64](p, stop, cacheBytes)
}

func solveIn[T linalg.Float](p problem, stop stopping, cacheBytes int64) (solution, error) {
	s, err := newSolver[T](p, stop, cacheBytes)
	if err != nil {
		return solution{}, err
	}
	unconverged := s.run()
	if leavesNothing(unconverged) {
		return solution{}, unconverged
	}
	if err := s.finish(); err != nil {
		return solution{}, err
	}
	return s.solution(), unconverged
}

// finish brings back the coefficients that shrink set aside, if there are any, and checks that the
// gradient is finite. Comparisons do not detect NaN.
func (s *solver[T]) finish() error {
	if s.aside != nil {
		if err := s.restore(); err != nil {
			return err
		}
	}
	if linalg.FirstNotFinite(s.gradient) >= 0 {
		return errOverflow
	}
	return nil
}

func newSolver[T linalg.Float](p problem, stop stopping, cacheBytes int64) (*solver[T], error) {
	n := p.kernel.Len()
	s := &solver[T]{problem: p, stop: stop, rows: newCache[T](p.kernel, cacheBytes)}
	s.rows.next, s.rows.interrupt = s.appendLikely, stop.interrupted
	s.makeParts()
	s.diagonal, s.coef = make([]float64, n), make([]float64, n)
	p.kernel.Diagonal(s.diagonal)
	if i := linalg.FirstNotFinite(s.diagonal); i >= 0 {
		return nil, &valueError{row: i, col: i, value: s.diagonal[i]}
	}
	copy(s.coef, p.start)
	s.gradient = make([]float64, n)
	s.allowAll()
	return s, s.refresh()
}

// newCache returns a cache whose rows and batches together fit into the given number of bytes. It
// holds at least two rows, because the solver needs both rows of its working set.
func newCache[T linalg.Float](source kernel.Source, bytes int64) *cache[T] {
	var zero T
	size, n := int64(8), source.Len()
	if _, single := any(zero).(float32); single {
		size = 4
	}
	fit := int(min(bytes/(size*int64(max(n, 1))), math.MaxInt32))
	c := &cache[T]{panel: 1, batch: 2}
	if p, ok := source.(kernel.Panels); ok {
		c.panel, c.batch = max(1, min(p.PanelRows(), fit/4)), max(2, min(batchRows, fit/4&^1))
		fit -= c.batch
	}
	limit := min(max(fit, 2), max(n, 1))
	rows := min(limit, max(1, slabValues/max(n, 1)))
	c.slabSize, c.most = rows*n, limit/rows
	c.reset(source)
	return c
}

// cSVC returns the problem of a two-class machine (LIBSVM eq. 2). It has p = -1. For rows of the
// first class, y_i is 1 and C_i is cFirst. For the other rows, y_i is -1 and C_i is cSecond.
func cSVC(k kernel.Source, first []bool, cFirst, cSecond float64) problem {
	n := len(first)
	p := problem{kernel: k, linear: make([]float64, n), lower: make([]float64, n), upper: make([]float64, n)}
	for i, positive := range first {
		if positive {
			p.linear[i], p.upper[i] = -1, cFirst
		} else {
			p.linear[i], p.lower[i] = 1, -cSecond
		}
	}
	return p
}

// weigh multiplies the bounds of each coefficient by the weight of its row. There is one weight per
// coefficient, above 0.
func (p *problem) weigh(weights []float64) {
	for i, w := range weights {
		p.lower[i] *= w
		p.upper[i] *= w
	}
}

// appendLikely appends to taken the rows that the solver will probably need soon. It chooses the
// rows outside the cache whose coefficients violate the optimality conditions most. The result has
// at most limit rows.
func (s *solver[T]) appendLikely(taken []int, limit int) []int {
	skip := taken[0]
	var best violators
	least := 0.0 // a violation up to this one is not among the largest
	for _, p := range s.parts {
		slot, allowed := s.rows.slot[p.lo:p.hi], s.allowed[p.lo:p.hi]
		for t, gradient := range s.gradient[p.lo:p.hi] {
			if slot[t] >= 0 {
				continue
			}
			if v := p.violation(gradient, allowed[t]); v > least && p.lo+t != skip {
				least = best.offer(violator{p.lo + t, v}, limit-1)
			}
		}
	}
	for _, v := range best {
		taken = append(taken, v.row)
	}
	return taken
}

// violation returns how much a coefficient violates the optimality conditions. It is the distance
// of the coefficient's gradient from the opposite end of the gap.
func (p part) violation(gradient float64, allowed uint8) float64 {
	v := 0.0
	if allowed&linalg.Grow != 0 {
		v = p.high - gradient
	}
	if allowed&linalg.Shrink != 0 {
		v = max(v, gradient-p.low)
	}
	return v
}

// violators is a heap of the largest violations, with the smallest of them at the top.
type violators []violator

type violator struct {
	row    int
	amount float64
}

// offer adds a violation to the heap if it is among the largest. The argument limit is the largest
// number of violations that the heap can hold. It returns the largest amount that would not be added.
func (h *violators) offer(v violator, limit int) (least float64) {
	switch {
	case limit < 1:
		return math.Inf(1)
	case len(*h) < limit:
		heap.Push(h, v)
	case v.amount > (*h)[0].amount:
		(*h)[0] = v
		heap.Fix(h, 0)
	}
	if len(*h) < limit {
		return 0
	}
	return (*h)[0].amount
}

func (h violators) Len() int           { return len(h) }
func (h violators) Less(a, b int) bool { return h[a].amount < h[b].amount }
func (h violators) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }
func (h *violators) Push(v any)        { *h = append(*h, v.(violator)) }
func (h *violators) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// shrinkEvery is the number of iterations between two attempts to shrink the problem. If the
// problem has fewer coefficients, their number is used instead, as in LIBSVM.
const shrinkEvery = 1000

// wholeProblem stores the whole problem while the solver works on a shrunken problem (LIBSVM
// section 5.1). While a solver is shrunken, all its slices belong to the active coefficients, in
// their order. The other coefficients stay at their bound, and their gradient is not updated.
type wholeProblem struct {
	problem
	diagonal, coef   []float64
	before, gradient []float64 // coefficients and gradient before the first shrinking
	active           []int     // indices of the active coefficients, ascending
}

// store copies the active coefficients from coef to the whole problem.
func (a *wholeProblem) store(coef []float64) {
	for k, t := range a.active {
		a.coef[t] = coef[k]
	}
}

// shrink sets aside the coefficients that will probably stay at their bound. A coefficient that can
// only grow is unlikely to move if, in the last scan, its gradient is above the gradients of all
// coefficients that can shrink. The converse holds for a coefficient that can only shrink. If fewer
// than a tenth of the coefficients would be set aside, or all of one of two parts, shrink does nothing.
func (s *solver[T]) shrink() {
	keep := make([]int, 0, len(s.coef))
	split := s.split
	for _, p := range s.parts {
		for t := p.lo; t < p.hi; t++ {
			if !s.isSettled(p, t) {
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
		s.aside = &wholeProblem{
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
	s.allowed = linalg.At(s.allowed, keep)
	s.rows.shrink(s.kernel, keep)
	s.makeParts()
}

// isSettled reports whether coefficient t of part p is at a bound and unlikely to move.
func (s *solver[T]) isSettled(p part, t int) bool {
	f, b := s.gradient[t], s.coef[t]
	return b >= s.upper[t] && f < p.low || b <= s.lower[t] && f > p.high
}

// restore brings back the coefficients that shrink set aside, and updates the gradient. If shrink
// set none aside, restore computes the gradient again.
func (s *solver[T]) restore() error {
	a := s.aside
	if a == nil {
		return s.refresh()
	}
	a.store(s.coef)
	s.problem, s.diagonal, s.coef, s.gradient = a.problem, a.diagonal, a.coef, a.gradient
	s.aside = nil
	s.allowAll()
	s.rows.reset(s.kernel)
	s.makeParts()
	return s.updateGradient(a.before)
}
