package linalg

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrNotConverged marks the error of an iteration that ended before its result reached the
// tolerance.
var ErrNotConverged = errors.New("not converged")

// Lanczos returns the k algebraically largest eigenvalues of a symmetric n x n matrix A, largest
// first. It also returns their orthonormal eigenvectors as the rows of a k x n matrix. It uses the
// matrix only through apply, which sets dst to A x, both of length n, and must not change x. A pair
// (theta, v) satisfies |A v - theta v| <= tol |A|, so that theta is within (tol |A|)^2 / gap of an
// eigenvalue, where gap is the distance of theta to the other eigenvalues. A tol of 1e-10 is a good
// choice; rounding allows 1e-14.
//
// Every new vector is made orthogonal to all earlier ones, twice (Golub and Van Loan 2013, section
// 10.3). That takes 8 n m bytes for m steps; m is some multiple of k. One start vector finds one
// copy of a repeated eigenvalue. Therefore, once k pairs are found, further runs look for larger
// eigenvalues until there are none. The vectors of these runs are orthogonal to the eigenvectors
// found. The start vectors are fixed: the result depends only on the values that apply returns.
//
// It panics unless 1 <= k <= n and tol >= 1e-14. Its error wraps [ErrNotConverged] or reports
// that apply returned a NaN or an infinity.
func Lanczos(n, k int, tol float64, apply func(dst, x []float64)) ([]float64, Matrix[float64], error) {
	return LanczosUntil(n, k, tol, apply, func() error { return nil })
}

// LanczosUntil is like [Lanczos] but calls interrupt before each step. If interrupt returns an
// error, LanczosUntil returns it.
func LanczosUntil(n, k int, tol float64, apply func(dst, x []float64), interrupt func() error) ([]float64, Matrix[float64], error) {
	if k < 1 || k > n || !(tol >= 1e-14) {
		panic(fmt.Sprintf("linalg: %d eigenpairs of %d x %d to a tolerance of %v", k, n, n, tol))
	}
	s := spectrum{n: n, tol: tol, apply: apply, interrupt: interrupt, floor: math.Inf(-1)}
	for len(s.pairs) < k {
		if _, err := s.run(k - len(s.pairs)); err != nil {
			return nil, Matrix[float64]{}, err
		}
	}
	for more := true; more && len(s.pairs) < n; {
		s.sort()
		s.floor = s.pairs[k-1].value
		var err error
		if more, err = s.run(1); err != nil {
			return nil, Matrix[float64]{}, err
		}
	}
	s.sort()
	values, vectors := make([]float64, k), New[float64](k, n)
	for i, p := range s.pairs[:k] {
		values[i] = p.value
		copy(vectors.Row(i), p.vector)
	}
	return values, vectors, nil
}

// eigenpair is an eigenvalue with a unit eigenvector.
type eigenpair struct {
	value  float64
	vector []float64
}

// spectrum holds the eigenpairs of a matrix that are found so far.
type spectrum struct {
	n         int
	tol       float64
	apply     func(dst, x []float64)
	interrupt func() error // called before each step
	pairs     []eigenpair
	norm      float64 // largest |Ritz value| so far, a lower bound of |A|
	runs      uint64
	floor     float64 // eigenvalues at or below the floor are not needed
}

func (s *spectrum) sort() {
	slices.SortStableFunc(s.pairs, func(a, b eigenpair) int { return cmp.Compare(b.value, a.value) })
}

// run adds at most limit eigenpairs whose vectors are orthogonal to the known eigenvectors. It adds
// fewer if the start vector is in a smaller invariant subspace. It returns false if no pair above
// the floor is left.
func (s *spectrum) run(limit int) (bool, error) {
	k, err := s.start()
	if err != nil {
		return false, err
	}
	room := s.n - len(s.pairs)
	for next := min(room, limit+20); ; next = min(room, next+next/4) {
		if err := k.grow(next); err != nil {
			return false, err
		}
		r, err := k.ritz()
		if err != nil {
			return false, err
		}
		s.norm = max(s.norm, math.Abs(r.values[0]), math.Abs(r.values[len(r.values)-1]))
		switch found := min(limit, len(r.values)); {
		case s.nothingAbove(r):
			return false, nil
		case r.worst(found) <= s.tol*s.norm:
			return s.keep(k, r, found), nil
		case len(k.alpha) == room || k.closed:
			return false, fmt.Errorf("linalg: Lanczos: %w: after all %d steps the residual is %.3g of the norm, but the tolerance is %.3g; raise the tolerance",
				ErrNotConverged, len(k.alpha), r.worst(found)/s.norm, s.tol)
		}
	}
}

// nothingAbove reports whether all eigenvalues of A above the floor are known. It accepts a
// larger residual than keep, because the pair itself is not used.
func (s *spectrum) nothingAbove(r ritz) bool {
	return r.residual(0) <= 1e-4*s.norm && r.value(0)+r.residual(0) <= s.floor
}

// keep adds the count largest eigenpairs of r to the spectrum. It returns false if they are not
// above the floor by more than the tolerance.
func (s *spectrum) keep(k *krylov, r ritz, count int) bool {
	if r.value(0) <= s.floor+s.tol*s.norm {
		return false
	}
	for i := range count {
		s.pairs = append(s.pairs, eigenpair{r.value(i), k.vector(r, i)})
	}
	return true
}

// start begins a run with a start vector that is orthogonal to the known eigenvectors. The number
// of the run determines the vector.
func (s *spectrum) start() (*krylov, error) {
	s.runs++
	q, state := make([]float64, s.n), s.runs
	for i := range q {
		state += 0x9e3779b97f4a7c15
		q[i] = float64(scramble(state)>>11)*0x1p-52 - 1
	}
	k := &krylov{spectrum: s}
	for _, p := range s.pairs {
		k.against = append(k.against, p.vector)
	}
	k.orthogonalise(q)
	if !k.add(q) {
		return nil, fmt.Errorf("linalg: Lanczos: %w: the %d eigenvectors found leave no orthogonal start vector in %d dimensions; raise the tolerance", ErrNotConverged, len(s.pairs), s.n)
	}
	return k, nil
}

// scramble is the output function of SplitMix64 (Steele, Lea, Flood 2014).
func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
