package linalg

import (
	"fmt"

	"gonum.org/v1/gonum/blas/gonum"
)

// MulVec sets dst to the product of a and x, on all cores. a is m x n, x has n values, and dst has
// m. It panics on other lengths; dst must not overlap x.
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

// At returns the entries of values at the given indices, in the order of the indices. It returns
// nil if values is nil.
func At[E any](values []E, index []int) []E {
	if values == nil {
		return nil
	}
	entries := make([]E, len(index))
	for a, i := range index {
		entries[a] = values[i]
	}
	return entries
}

// Range returns the integers from lo to hi-1.
func Range(lo, hi int) []int {
	list := make([]int, hi-lo)
	for i := range list {
		list[i] = lo + i
	}
	return list
}

// Sum returns the sum of numbers, added from the first to the last.
func Sum[T int | float64](v []T) (total T) {
	for _, x := range v {
		total += x
	}
	return total
}

// Mean returns the mean of numbers. The mean of no numbers is NaN.
func Mean(v []float64) float64 { return Sum(v) / float64(len(v)) }

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

// Dot returns the inner product of two vectors, on one core. It panics unless
// they are equally long.
func Dot[T Float](a, b []T) T {
	if len(a) != len(b) {
		panic(fmt.Sprintf("linalg: the inner product of %d and %d values", len(a), len(b)))
	}
	var impl gonum.Implementation
	if a, ok := any(a).([]float32); ok {
		return T(impl.Sdot(len(a), a, 1, any(b).([]float32), 1))
	}
	return T(dot(any(a).([]float64), any(b).([]float64)))
}

// Axpy adds alpha x to y, on one core. It panics unless they are equally long.
func Axpy[T Float](alpha T, x, y []T) {
	if len(x) != len(y) {
		panic(fmt.Sprintf("linalg: %d values added to %d", len(x), len(y)))
	}
	if x, ok := any(x).([]float32); ok {
		var impl gonum.Implementation
		impl.Saxpy(len(x), float32(alpha), x, 1, any(y).([]float32), 1)
		return
	}
	axpy(float64(alpha), any(x).([]float64), any(y).([]float64))
}
