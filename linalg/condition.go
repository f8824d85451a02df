package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
	lapack "gonum.org/v1/gonum/lapack/gonum"
)

// NormOne returns the 1-norm of a symmetric matrix, the largest sum of the magnitudes of a row. It
// reads the lower triangle only.
func NormOne(a Matrix[float64]) float64 {
	sums := make([]float64, a.Rows)
	for i := range a.Rows {
		for j, v := range a.Row(i)[:i+1] {
			sums[i] += math.Abs(v)
			if j < i {
				sums[j] += math.Abs(v)
			}
		}
	}
	most := 0.0
	for _, v := range sums {
		most = max(most, v)
	}
	return most
}

// Condition estimates the condition number of L L^T in the 1-norm from its Cholesky factor l and
// its norm (LAPACK's dpocon). It returns +Inf for a matrix that is singular to working precision.
func Condition(l Matrix[float64], norm float64) float64 {
	n := l.Rows
	if n == 0 {
		return 1
	}
	return 1 / lapack.Implementation{}.Dpocon(blas.Lower, n, l.Data, l.Stride, norm, make([]float64, 3*n), make([]int, n))
}
