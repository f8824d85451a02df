package linalg

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/lapack"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// krylov is the state of one run of the Lanczos iteration. A Q = Q T + the residual, with T
// tridiagonal.
type krylov struct {
	*spectrum
	against     [][]float64 // vectors to which new vectors are made orthogonal: found eigenvectors, then the columns of Q
	alpha, beta []float64   // diagonal and off-diagonal of T; the last beta is the length of the residual
	rest        []float64
	closed      bool // the subspace is invariant, and the residual is zero but for rounding
}

// add scales v to length 1 and appends it to Q. It returns false if v is zero or has a NaN.
func (k *krylov) add(v []float64) bool {
	length := math.Sqrt(dot(v, v))
	if !(length > 0) {
		return false
	}
	q := make([]float64, len(v))
	for i, x := range v {
		q[i] = x / length
	}
	k.against = append(k.against, q)
	return true
}

// grow runs the iteration until T is steps x steps or the subspace is invariant.
func (k *krylov) grow(steps int) error {
	for len(k.alpha) < steps && !k.closed {
		if err := k.interrupt(); err != nil {
			return err
		}
		if len(k.alpha) > 0 {
			k.add(k.rest)
		}
		if err := k.step(); err != nil {
			return err
		}
	}
	return nil
}

// step multiplies A by the last vector of Q and extends T by one row.
func (k *krylov) step() error {
	q := k.against[len(k.against)-1]
	if k.rest == nil {
		k.rest = make([]float64, k.n)
	}
	k.apply(k.rest, q)
	a := dot(q, k.rest)
	scale := math.Sqrt(dot(k.rest, k.rest))
	if scale-scale != 0 {
		return errors.New("linalg: Lanczos: a product with the matrix has a NaN or an infinity")
	}
	k.orthogonalise(k.rest)
	b := math.Sqrt(dot(k.rest, k.rest))
	k.norm = max(k.norm, math.Abs(a))
	k.alpha, k.beta = append(k.alpha, a), append(k.beta, b)
	// A residual of this size is rounding error, and its direction is meaningless.
	k.closed = b <= 16*epsilon*max(k.norm, scale) || len(k.against) == k.n
	return nil
}

// epsilon is the distance from 1 to the next float64.
const epsilon = 0x1p-52

// orthogonalise removes from v its components along the found eigenvectors and the columns of Q. It
// applies classical Gram-Schmidt twice.
func (k *krylov) orthogonalise(v []float64) {
	c := make([]float64, len(k.against))
	for range 2 {
		For(len(c), 16, func(lo, hi int) {
			for j := lo; j < hi; j++ {
				c[j] = dot(k.against[j], v)
			}
		})
		For(len(v), 2048, func(lo, hi int) {
			for j, q := range k.against {
				axpy(-c[j], q[lo:hi], v[lo:hi])
			}
		})
	}
}

// ritz holds the eigenpairs of T.
type ritz struct {
	values  []float64 // eigenvalues, ascending
	vectors []float64 // square matrix with one eigenvector per column
	beta    float64   // length of the residual
}

// value returns the i-th largest eigenvalue of T.
func (r ritz) value(i int) float64 { return r.values[len(r.values)-1-i] }

// component returns entry j of the eigenvector of T for the i-th largest eigenvalue.
func (r ritz) component(j, i int) float64 {
	m := len(r.values)
	return r.vectors[j*m+m-1-i]
}

// residual returns |A v - theta v| for the i-th largest eigenvalue theta and its vector v.
func (r ritz) residual(i int) float64 {
	return math.Abs(r.beta * r.component(len(r.values)-1, i))
}

// worst returns the largest residual among the count largest eigenvalues.
func (r ritz) worst(count int) float64 {
	w := 0.0
	for i := range count {
		w = max(w, r.residual(i))
	}
	return w
}

// ritz diagonalises T.
func (k *krylov) ritz() (ritz, error) {
	m := len(k.alpha)
	r := ritz{values: append([]float64(nil), k.alpha...), vectors: make([]float64, m*m), beta: k.beta[m-1]}
	off := append([]float64(nil), k.beta[:m-1]...)
	var impl lapackgonum.Implementation
	if !impl.Dsteqr(lapack.EVTridiag, m, r.values, off, r.vectors, m, make([]float64, max(1, 2*m-2))) {
		return ritz{}, fmt.Errorf("linalg: Lanczos: %w: the eigenvalues of the tridiagonal matrix of %d steps cannot be computed to working precision", ErrNotConverged, m)
	}
	return r, nil
}

// vector returns the approximate eigenvector of A for the i-th largest eigenvalue of T.
func (k *krylov) vector(r ritz, i int) []float64 {
	v := make([]float64, k.n)
	q := k.against[len(k.against)-len(k.alpha):]
	For(len(v), 2048, func(lo, hi int) {
		for j := range k.alpha {
			axpy(r.component(j, i), q[j][lo:hi], v[lo:hi])
		}
	})
	return v
}
