package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas/gonum"
)

// MulVec sets dst to a x on all cores: a is m x n, x has n values, dst m. It
// panics on other lengths; dst must not overlap x.
func MulVec(dst []float64, a Matrix[float64], x []float64) {
	if len(dst) != a.Rows || len(x) != a.Cols {
		panic(fmt.Sprintf("linalg: %d x %d times %d values into %d", a.Rows, a.Cols, len(x), len(dst)))
	}
	For(a.Rows, max(1, 1<<15/max(1, a.Cols)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dst[i] = dot(a.Row(i), x)
		}
	})
}

// dot returns the inner product of two vectors of one length.
func dot(a, b []float64) float64 {
	var impl gonum.Implementation
	return impl.Ddot(len(a), a, 1, b, 1)
}

// axpy adds alpha x to y.
func axpy(alpha float64, x, y []float64) {
	var impl gonum.Implementation
	impl.Daxpy(len(x), alpha, x, 1, y, 1)
}
