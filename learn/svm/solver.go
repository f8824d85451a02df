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
	rows     *cache
	diagonal []float64
	coef     []float64 // b
	gradient []float64 // f = K b + q

	iterations int
	moves      int     // steps since the gradient was computed afresh
	distance   float64 // sum of |change of b| in these steps
}

func newSolver(p problem, cacheBytes int64) (*solver, error) {
	n := p.kernel.Len()
	s := &solver{problem: p, rows: newCache(p.kernel, cacheBytes)}
	s.diagonal, s.coef = make([]float64, n), make([]float64, n)
	p.kernel.Diagonal(s.diagonal)
	if i := firstNotFinite(s.diagonal); i >= 0 {
		return nil, &valueError{row: i, col: i, value: s.diagonal[i]}
	}
	copy(s.coef, p.start)
	s.gradient = make([]float64, n)
	return s, s.refresh()
}

// run moves until the stopping rule holds on a gradient whose rounding errors
// are small against tol.
func (s *solver) run(stop stopping) error {
	for {
		i, gap := s.first()
		if gap <= stop.tol && s.drift() <= stop.tol/8 {
			return s.checkGradient()
		}
		if s.iterations >= stop.iterations {
			return errNotConverged(gap, s.iterations, stop)
		}
		if gap <= stop.tol {
			if err := s.refresh(); err != nil {
				return err
			}
			continue
		}
		moved, err := s.step(i)
		switch {
		case err != nil:
			return err
		case moved:
		case s.moves == 0: // an exact gradient, and no number between here and there
			return errNotConverged(gap, s.iterations, stop)
		default:
			if err := s.refresh(); err != nil {
				return err
			}
		}
	}
}

// first returns i = argmax {-f_t: b_t can grow} and the gap m - M; the gap is
// -Inf when nothing can grow or nothing can shrink. Ties go to the last index,
// as in LIBSVM.
func (s *solver) first() (int, float64) {
	i, low, high := -1, math.Inf(1), math.Inf(-1)
	for t, f := range s.gradient {
		b := s.coef[t]
		if f <= low && b < s.upper[t] {
			low, i = f, t
		}
		if f > high && b > s.lower[t] {
			high = f
		}
	}
	return i, high - low
}

// second returns the j that promises the largest decrease together with i,
// (f_j - f_i)^2 / (K_ii + K_jj - 2 K_ij) among the b_j that can shrink (WSS 2,
// step 2), or -1.
func (s *solver) second(i int, row []float64) int {
	j, best := -1, math.Inf(-1)
	fi, kii := s.gradient[i], s.diagonal[i]
	for t, f := range s.gradient {
		if f <= fi || s.coef[t] <= s.lower[t] {
			continue
		}
		d := f - fi
		if decrease := d * d / curvature(kii+s.diagonal[t]-2*row[t]); decrease >= best {
			best, j = decrease, t
		}
	}
	return j
}

func curvature(a float64) float64 {
	if a > 0 {
		return a
	}
	return tau
}

// step moves b_i up and its partner down by the same amount. It reports false
// when rounding left both where they were.
func (s *solver) step(i int) (bool, error) {
	if i < 0 {
		return false, errOverflow
	}
	ri, err := s.rows.row(i)
	if err != nil {
		return false, err
	}
	j := s.second(i, ri)
	if j < 0 {
		return false, errOverflow
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
	_, gap := s.first()
	objective := 0.0
	for t, b := range s.coef {
		objective += b * (s.gradient[t] + s.linear[t]) / 2
	}
	return solution{coef: s.coef, rho: s.rho(), objective: objective, gap: max(gap, 0), iterations: s.iterations}
}

// rho is the mean gradient of the free coefficients or, without one, the middle
// of what the bounded ones allow (LIBSVM section 4.1.5).
func (s *solver) rho() float64 {
	free, sum := 0, 0.0
	low, high := math.Inf(-1), math.Inf(1)
	for t, f := range s.gradient {
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
	return (low + high) / 2
}
