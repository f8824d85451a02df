package svm

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// epsilon is the distance from 1 to the next float64.
const epsilon = 0x1p-52

// errOverflow reports a gradient that is too large for float64.
var errOverflow = errors.New("the gradient overflows: scale the data so that kernel values are near 1, or lower C if the learner has it")

// solver minimises a problem by moving two coefficients at a time. It reads
// kernel rows in the precision of T and does all arithmetic in float64.
type solver[T linalg.Float] struct {
	problem
	stop     stopping
	aside    *wholeProblem // problem before shrinking; nil if the solver is not shrunken
	parts    []part
	rows     *cache[T]
	diagonal []float64
	coef     []float64 // coefficients b
	allowed  []uint8   // possible moves of each b: linalg.Grow, linalg.Shrink
	gradient []float64 // gradient f = K b + q

	iterations int
	steps      int     // number of steps since the gradient was last computed from the coefficients
	distance   float64 // sum of the absolute changes of b in these steps
}

// part is a range of coefficients whose sum is constant.
type part struct {
	lo, hi int
	first  int     // index of the coefficient that the next step increases, or -1
	low    float64 // least gradient of the coefficients that can grow, LIBSVM's -m
	high   float64 // largest gradient of the coefficients that can shrink, LIBSVM's -M
}

// gap returns how far the part is from its optimum, LIBSVM's m - M. It is -Inf if no coefficient
// can grow or none can shrink.
func (p part) gap() float64 { return p.high - p.low }

// storeExtremes sets first, low and high from the result of a scan.
func (p *part) storeExtremes(e linalg.Extremes) {
	p.first, p.low, p.high = e.First, e.Low, e.High
	if e.First >= 0 {
		p.first += p.lo
	}
}

// makeParts divides the coefficients into one part or two, according to split.
func (s *solver[T]) makeParts() {
	n := len(s.linear)
	s.parts = []part{{hi: n}}
	if s.split > 0 {
		s.parts = []part{{hi: s.split}, {lo: s.split, hi: n}}
	}
}

// allowAll records for every coefficient whether it can grow and whether it can shrink.
func (s *solver[T]) allowAll() {
	s.allowed = make([]uint8, len(s.coef))
	for t := range s.coef {
		s.allow(t)
	}
}

// allow records whether coefficient t can grow and whether it can shrink.
func (s *solver[T]) allow(t int) {
	s.allowed[t] = 0
	if s.coef[t] < s.upper[t] {
		s.allowed[t] |= linalg.Grow
	}
	if s.coef[t] > s.lower[t] {
		s.allowed[t] |= linalg.Shrink
	}
}

// interruptEvery is the number of iterations between two calls of interrupt. With 30,000 rows in
// memory, these iterations take some milliseconds. The cache also calls interrupt before it reads rows.
const interruptEvery = 64

// run moves coefficients until the stopping rule holds. The gradient's rounding errors must then be
// small compared with tol.
func (s *solver[T]) run() error {
	look := s.iterations + min(len(s.coef), shrinkEvery)
	s.scan()
	for {
		gap := s.gap()
		switch {
		case gap <= s.stop.tol && s.aside == nil && s.drift() <= s.stop.tol/8:
			return nil
		case s.iterations >= s.stop.iterations:
			return errNotConverged(gap, s.iterations, s.stop)
		case gap <= s.stop.tol:
			if err := s.restore(); err != nil {
				return err
			}
			s.scan()
			continue
		case s.iterations >= look:
			s.shrink()
			look = s.iterations + min(len(s.coef), shrinkEvery)
			s.scan()
		}
		if s.iterations%interruptEvery == 0 {
			if err := s.stop.interrupted(); err != nil {
				return err
			}
		}
		moved, err := s.step()
		switch {
		case err != nil:
			return s.numbered(err)
		case moved:
		case s.steps == 0 && s.aside == nil: // rounding undoes the step even with a fresh gradient
			return errNotConverged(gap, s.iterations, s.stop)
		default:
			if err := s.restore(); err != nil {
				return err
			}
			s.scan()
		}
	}
}

// ErrNotFinite marks the error of a kernel value that is NaN or infinite.
var ErrNotFinite = errors.New("kernel value is not finite")

// errNotConverged returns the error of a solver that stopped before the gap reached the tolerance.
func errNotConverged(gap float64, iterations int, stop stopping) error {
	return fmt.Errorf("%w: the gap is %.3g after %d iterations, but tol is %.3g: raise tol, scale the data, or lower C if the learner has it", ErrNotConverged, gap, iterations, stop.tol)
}

// numbered replaces the row number in an error by that row's number in the whole problem.
func (s *solver[T]) numbered(err error) error {
	if s.aside == nil {
		return err
	}
	return renumber(err, s.aside.active)
}

// scan finds in each part the coefficient that the next step increases. It returns the largest gap
// of the parts. Ties go to the last index, as in LIBSVM.
func (s *solver[T]) scan() float64 {
	for k := range s.parts {
		p := &s.parts[k]
		p.storeExtremes(linalg.SMOScan(s.gradient[p.lo:p.hi], s.allowed[p.lo:p.hi]))
	}
	return s.gap()
}

// gap returns the largest of the parts' gaps.
func (s *solver[T]) gap() float64 {
	gap := math.Inf(-1)
	for _, p := range s.parts {
		gap = max(gap, p.gap())
	}
	return gap
}

// secondCoefficient chooses the coefficient that decreases while the part's first coefficient
// increases. It returns the coefficient that makes the objective decrease most, and twice that decrease.
// The index is -1 if no coefficient can decrease and thereby lower the objective.
func (s *solver[T]) secondCoefficient(p part, row []T) (int, float64) {
	partner := linalg.SMOPartner(s.gradient[p.lo:p.hi], s.diagonal[p.lo:p.hi], row[p.lo:p.hi], s.allowed[p.lo:p.hi],
		s.gradient[p.first], s.diagonal[p.first], tau)
	if partner.Index < 0 {
		return -1, partner.Decrease
	}
	return p.lo + partner.Index, partner.Decrease
}

// pair chooses the two coefficients that the next step changes. Of the pairs of all parts, it takes
// the one that makes the objective decrease most.
func (s *solver[T]) pair() (i, j int, err error) {
	i, j = -1, -1
	best := math.Inf(-1)
	for _, p := range s.parts {
		if !(p.gap() > 0) {
			continue
		}
		row, err := s.rows.row(p.first)
		if err != nil {
			return 0, 0, err
		}
		if t, decrease := s.secondCoefficient(p, row); t >= 0 && decrease >= best {
			i, j, best = p.first, t, decrease
		}
	}
	if j < 0 {
		return 0, 0, errOverflow
	}
	return i, j, nil
}

func curvature(a float64) float64 {
	if a > 0 {
		return a
	}
	return tau
}

// step increases one coefficient and decreases another by the same amount. It returns false if
// rounding left both unchanged. It chooses the two by the last scan of the gradient, and then makes
// the next scan.
func (s *solver[T]) step() (bool, error) {
	i, j, err := s.pair()
	if err != nil {
		return false, err
	}
	ri, err := s.rows.row(i)
	if err != nil {
		return false, err
	}
	rj, err := s.rows.row(j)
	if err != nil {
		return false, err
	}
	s.iterations++
	di, dj := s.move(i, j, float64(ri[j]))
	if di == 0 && dj == 0 {
		return false, nil
	}
	s.allow(i)
	s.allow(j)
	for k := range s.parts {
		p := &s.parts[k]
		p.storeExtremes(linalg.SMOMove(s.gradient[p.lo:p.hi], di, ri[p.lo:p.hi], dj, rj[p.lo:p.hi], s.allowed[p.lo:p.hi]))
	}
	s.steps++
	s.distance += math.Abs(di) + math.Abs(dj)
	return true, nil
}

// move increases coefficient i and decreases coefficient j by the best amount that their bounds
// allow. It returns both changes. If a coefficient reaches its bound, the other one is the rest of
// their sum, as in LIBSVM, so that both programs round alike.
func (s *solver[T]) move(i, j int, kij float64) (di, dj float64) {
	delta := (s.gradient[j] - s.gradient[i]) / curvature(s.diagonal[i]+s.diagonal[j]-2*kij)
	bi, bj := s.coef[i], s.coef[j]
	ni, nj := bi+delta, bj-delta
	if ni > s.upper[i] {
		ni, nj = s.upper[i], bi+bj-s.upper[i]
	}
	if nj < s.lower[j] {
		ni, nj = bi+bj-s.lower[j], s.lower[j]
	}
	s.coef[i], s.coef[j] = s.snap(i, bi, ni), s.snap(j, bj, nj)
	return s.coef[i] - bi, s.coef[j] - bj
}

// snap returns after, or the bound of coefficient t if only rounding errors separate after from that
// bound. Otherwise the coefficient would count as free, and 1e-17 as a support vector. The
// coefficient was before until now.
func (s *solver[T]) snap(t int, before, after float64) float64 {
	near := 4 * epsilon * (math.Abs(before) + math.Abs(after-before))
	switch {
	case s.upper[t]-after <= near:
		return s.upper[t]
	case after-s.lower[t] <= near:
		return s.lower[t]
	}
	return after
}

// drift bounds the rounding errors that the gradient has accumulated since it was last computed.
// Each step rounds the products, of size |change| max |K|, and the sum.
func (s *solver[T]) drift() float64 {
	if s.steps == 0 {
		return 0
	}
	return epsilon * (s.distance*largest(s.diagonal) + float64(s.steps)*largest(s.gradient))
}

func largest(v []float64) float64 {
	m := 0.0
	for _, x := range v {
		m = max(m, math.Abs(x))
	}
	return m
}

// refresh computes the gradient anew from the coefficients.
func (s *solver[T]) refresh() error {
	copy(s.gradient, s.linear)
	err := s.updateGradient(make([]float64, len(s.coef)))
	s.steps, s.distance = 0, 0
	return err
}

// updateGradient updates the gradient after the coefficients have changed. The argument oldCoef
// holds the earlier coefficients. The gradient changes by K (coef - oldCoef).
func (s *solver[T]) updateGradient(oldCoef []float64) error {
	var changed []int
	for t, b := range s.coef {
		if b != oldCoef[t] {
			changed = append(changed, t)
			s.distance += math.Abs(b - oldCoef[t])
		}
	}
	s.steps += len(changed)
	return s.rows.passPairs(changed, func(i int, x []T, j int, y []T) {
		if j < 0 {
			linalg.SMOMove(s.gradient, s.coef[i]-oldCoef[i], x, 0, x, s.allowed)
			return
		}
		linalg.SMOMove(s.gradient, s.coef[i]-oldCoef[i], x, s.coef[j]-oldCoef[j], y, s.allowed)
	})
}

func (s *solver[T]) solution() solution {
	out := solution{coef: s.coef, gap: max(s.scan(), 0), iterations: s.iterations}
	for t, b := range s.coef {
		out.objective += b * (s.gradient[t] + s.linear[t]) / 2
		if b != 0 && (b <= s.lower[t] || b >= s.upper[t]) {
			out.bounded++
		}
	}
	rho := s.rho(s.parts[0])
	other := s.rho(s.parts[len(s.parts)-1])
	out.rho, out.margin = (rho+other)/2, (rho-other)/2
	return out
}

// rho returns the multiplier of a part's sum constraint, as in LIBSVM section 4.1.5. It is the mean
// gradient of the free coefficients. If no coefficient is free, it is the middle of the interval
// that the coefficients at bounds allow.
func (s *solver[T]) rho(p part) float64 {
	free, sum := 0, 0.0
	low, high := math.Inf(-1), math.Inf(1)
	for t := p.lo; t < p.hi; t++ {
		f := s.gradient[t]
		switch b := s.coef[t]; {
		case b >= s.upper[t]:
			low = max(low, f)
		case b <= s.lower[t]:
			high = min(high, f)
		default:
			free++
			sum += f
		}
	}
	if free > 0 {
		return sum / float64(free)
	}
	return middle(low, high)
}

// middle returns the middle of an interval. If only one end is finite, it returns that end.
func middle(low, high float64) float64 {
	switch {
	case math.IsInf(low, -1):
		return high
	case math.IsInf(high, 1):
		return low
	}
	return (low + high) / 2
}
