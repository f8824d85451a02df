package linalg_test

import (
	"math/rand/v2"

	"github.com/mercer-fl/mercer/linalg"
)

// noise returns Gaussian entries, a tenth of them zero, in a matrix whose
// stride is larger than its width.
func noise[T linalg.Float](rows, cols int, seed uint64) linalg.Matrix[T] {
	src := rand.New(rand.NewPCG(seed, 0))
	m := linalg.Matrix[T]{Rows: rows, Cols: cols, Stride: cols + 3, Data: make([]T, rows*(cols+3))}
	for i := range m.Data {
		if src.IntN(10) > 0 {
			m.Data[i] = T(src.NormFloat64())
		}
	}
	return m
}

// product is the dumb twin of the four products: float64, one core, one loop.
func product[T linalg.Float](a, b linalg.Matrix[T]) linalg.Matrix[float64] {
	dst := linalg.New[float64](a.Rows, b.Rows)
	for i := range a.Rows {
		for j := range b.Rows {
			for k, v := range a.Row(i) {
				dst.Row(i)[j] += float64(v) * float64(b.Row(j)[k])
			}
		}
	}
	return dst
}

// hadamard is the dumb twin of FWHT: the matrix times the vector.
func hadamard[T linalg.Float](x []T) []float64 {
	y := make([]float64, len(x))
	for i := range y {
		for j, v := range x {
			sign := 1.0
			for both := i & j; both > 0; both &= both - 1 {
				sign = -sign
			}
			y[i] += sign * float64(v)
		}
	}
	return y
}
