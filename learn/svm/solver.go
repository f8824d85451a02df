package svm

import (
	"errors"
	"math"
)

// epsilon is the distance from 1 to the next float64.
const epsilon = 0x1p-52

// errOverflow is a gradient beyond float64.
var errOverflow = errors.New("the gradient overflows: lower C, or scale the data so that kernel values are near 1")

// solver minimises a problem by moving two coefficients at a time.
type solver struct {
	problem
	aside    *aside // nil when nothing is set aside
	parts    []part
	rows     *cache
	diagonal []float64
	coef     []float64 // b
	gradient []float64 // f = K b + q

	iterations int
	moves      int     // steps since the gradient was computed afresh
	distance   float64 // sum of |change of b| in these steps
}

// part is a range of coefficients with a constant sum.
type part struct {
	lo, hi int
	first  int     // the one to grow, or -1
	low    float64 // least gradient of those that can grow, -m
	high   float64 // largest of those that can shrink, -M
}

// gap returns m - M within the part: -Inf when nothing can grow or nothing can
// shrink.
func (p part) gap() float64 { return p.high - p.low }

func newSolver(p problem, cacheBytes int64) (*solver, error) {
	n := p.kernel.Len()
	s := &solver{problem: p, rows: newCache(p.kernel, cacheBytes)}
	s.divide()
	s.diagonal, s.coef = make([]float64, n), make([]float64, n)
	p.kernel.Diagonal(s.diagonal)
	if i := firstNotFinite(s.diagonal); i >= 0 {
		return nil, &valueError{row: i, col: i, value: s.diagonal[i]}
	}
	copy(s.coef, p.start)
	s.gradient = make([]float64, n)
	return s, s.refresh()
}

// divide makes the parts.
func (s *solver) divide() {
	n := len(s.linear)
	s.parts = []part{{hi: n}}
	if s.split > 0 {
		s.parts = []part{{hi: s.split}, {lo: s.split, hi: n}}
	}
}

// run moves until the stopping rule holds on a gradient whose rounding errors
// are small against tol.
func (s *solver) run(stop stopping) error {
	look := s.iterations + min(len(s.coef), shrinkEvery)
	for {
		gap := s.scan()
		switch {
		case gap <= stop.tol && s.aside == nil && s.drift() <= stop.tol/8:
			return s.checkGradient()
		case s.iterations >= stop.iterations:
			return errNotConverged(gap, s.iterations, stop)
		case gap <= stop.tol:
			if err := s.restore(); err != nil {
				return err
			}
			continue
		case s.iterations >= look:
			s.shrink()
			look = s.iterations + min(len(s.coef), shrinkEvery)
			s.scan()
		}
		moved, err := s.step()
		switch {
		case err != nil:
			return s.numbered(err)
		case moved:
		case s.moves == 0 && s.aside == nil: // an exact gradient, and no number between here and there
			return errNotConverged(gap, s.iterations, stop)
		default:
			if err := s.restore(); err != nil {
				return err
			}
		}
	}
}

// scan finds the first of each part and returns the largest gap.
func (s *solver) scan() float64 {
	gap := math.Inf(-1)
	for k := range s.parts {
		p := &s.parts[k]
		s.first(p)
		gap = max(gap, p.gap())
	}
	return gap
}

// first sets i = argmax {-f_t: b_t can grow} of the part, and the ends of its
// gap. Ties go to the last index, as in LIBSVM.
func (s *solver) first(p *part) {
	i, low, high := -1, math.Inf(1), math.Inf(-1)
	coef, lower, upper := s.coef[p.lo:p.hi], s.lower[p.lo:p.hi], s.upper[p.lo:p.hi]
	for t, f := range s.gradient[p.lo:p.hi] {
		b := coef[t]
		if f <= low && b < upper[t] {
			low, i = f, p.lo+t
		}
		if f > high && b > lower[t] {
			high = f
		}
	}
	p.first, p.low, p.high = i, low, high
}

// second returns the j that promises the largest decrease together with the
// first of p, (f_j - f_i)^2 / (K_ii + K_jj - 2 K_ij) among the b_j of the same
// part that can shrink (WSS 2, step 2), or -1; and that decrease.
func (s *solver) second(p part, row []float64) (int, float64) {
	j, best := -1, math.Inf(-1)
	fi, kii := s.gradient[p.first], s.diagonal[p.first]
	coef, lower := s.coef[p.lo:p.hi], s.lower[p.lo:p.hi]
	diagonal := s.diagonal[p.lo:p.hi]
	row = row[p.lo:p.hi]
	for t, f := range s.gradient[p.lo:p.hi] {
		if f <= fi || coef[t] <= lower[t] {
			continue
		}
		d := f - fi
		if decrease := d * d / curvature(kii+diagonal[t]-2*row[t]); decrease >= best {
			best, j = decrease, p.lo+t
		}
	}
	return j, best
}

// pair returns the working set: the best of all parts.
func (s *solver) pair() (i, j int, err error) {
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
		if t, decrease := s.second(p, row); t >= 0 && decrease >= best {
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

// step moves b_i up and its partner down by the same amount. It reports false
// when rounding left both where they were. It works on the last scan.
func (s *solver) step() (bool, error) {
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
	di, dj := s.move(i, j, ri[j])
	if di == 0 && dj == 0 {
		return false, nil
	}
	addRows(s.gradient, di, ri, dj, rj)
	s.moves++
	s.distance += math.Abs(di) + math.Abs(dj)
	return true, nil
}

// move shifts weight from j to i up to the minimum on that line or to the first
// bound, and returns both changes.
func (s *solver) move(i, j int, kij float64) (di, dj float64) {
	delta := (s.gradient[j] - s.gradient[i]) / curvature(s.diagonal[i]+s.diagonal[j]-2*kij)
	delta = min(delta, s.upper[i]-s.coef[i], s.coef[j]-s.lower[j])
	bi, bj := s.coef[i], s.coef[j]
	s.coef[i] = s.snap(i, bi, delta)
	s.coef[j] = s.snap(j, bj, -delta)
	return s.coef[i] - bi, s.coef[j] - bj
}

// snap returns b + delta, or the bound that it misses by rounding only:
// otherwise it would count as free, and 1e-17 as a support vector.
func (s *solver) snap(t int, b, delta float64) float64 {
	near := 4 * epsilon * (math.Abs(b) + math.Abs(delta))
	moved := b + delta
	switch {
	case s.upper[t]-moved <= near:
		return s.upper[t]
	case moved-s.lower[t] <= near:
		return s.lower[t]
	}
	return moved
}

// addRows adds a x + b y to dst.
func addRows(dst []float64, a float64, x []float64, b float64, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for t := range dst {
		dst[t] += a*x[t] + b*y[t]
	}
}

// drift bounds what rounding has added to the gradient since it was computed:
// each step rounds the products, of size |change| max |K|, and the sum.
func (s *solver) drift() float64 {
	if s.moves == 0 {
		return 0
	}
	return epsilon * (s.distance*largest(s.diagonal) + float64(s.moves)*largest(s.gradient))
}

func largest(v []float64) float64 {
	m := 0.0
	for _, x := range v {
		m = max(m, math.Abs(x))
	}
	return m
}

// refresh computes the gradient from the coefficients.
func (s *solver) refresh() error {
	copy(s.gradient, s.linear)
	s.moves, s.distance = 0, 0
	for t, b := range s.coef {
		if b == 0 {
			continue
		}
		row, err := s.rows.row(t)
		if err != nil {
			return err
		}
		for u := range s.gradient {
			s.gradient[u] += b * row[u]
		}
	}
	return nil
}

// checkGradient refuses a minimum that rests on numbers beyond float64, which
// every comparison has passed over.
func (s *solver) checkGradient() error {
	if firstNotFinite(s.gradient) >= 0 {
		return errOverflow
	}
	return nil
}

func (s *solver) solution() solution {
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

// rho is the mean gradient of the free coefficients of a part or, without one,
// the middle of what the bounded ones allow (LIBSVM section 4.1.5).
func (s *solver) rho(p part) float64 {
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

// middle of an interval, or its finite end.
func middle(low, high float64) float64 {
	switch {
	case math.IsInf(low, -1):
		return high
	case math.IsInf(high, 1):
		return low
	}
	return (low + high) / 2
}
