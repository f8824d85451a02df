package linalg

import (
	"fmt"
	"math"
)

// CholeskyLowRank factors a symmetric positive semidefinite n x n matrix a into R^T R. R is r x n,
// where r is the numerical rank of a. The algorithm is Cholesky's with full pivoting (Higham 2002,
// section 10.3). It stops when no diagonal entry of the remainder exceeds 16 n epsilon times the
// largest diagonal entry of a. It does not change a. It returns a [PivotError] if a diagonal entry
// of the remainder is not finite, or is below -1e-9 times that largest entry. Rounding cannot explain such
// a negative entry: a has a negative eigenvalue. It panics unless a is square.
func CholeskyLowRank(a Matrix[float64]) (Matrix[float64], error) {
	if a.Rows != a.Cols {
		panic(fmt.Sprintf("linalg: cannot factor %d x %d values", a.Rows, a.Cols))
	}
	n := a.Rows
	left, largest := make([]float64, n), 0.0
	for i := range left {
		left[i] = a.Row(i)[i]
		largest = max(largest, left[i])
	}
	least, wrong := 16*float64(n)*epsilon*largest, -1e-9*largest
	r := Matrix[float64]{Cols: n, Stride: n}
	for r.Rows < n {
		pivot, err := choosePivot(left, wrong)
		if err != nil {
			return r, err
		}
		if left[pivot] <= least {
			break
		}
		r.Data, r.Rows = append(r.Data, a.Row(pivot)...), r.Rows+1
		eliminate(r, left, pivot)
	}
	return r, nil
}

// choosePivot returns the index of the largest remaining diagonal entry. Among equal entries it
// chooses the first. It returns an error for an entry that is not finite, or is below the limit
// wrong.
func choosePivot(left []float64, wrong float64) (int, error) {
	pivot := 0
	for i, d := range left {
		if d-d != 0 || d < wrong {
			return i, &PivotError{Index: i, Value: d}
		}
		if d > left[pivot] {
			pivot = i
		}
	}
	return pivot, nil
}

// eliminate replaces the last row of r, a row of the matrix, by a row of the factor. It subtracts
// the squares of the new row from the diagonal.
func eliminate(r Matrix[float64], left []float64, pivot int) {
	last := r.Row(r.Rows - 1)
	factors := make([]float64, r.Rows-1)
	for k := range factors {
		factors[k] = r.Row(k)[pivot]
	}
	root := math.Sqrt(left[pivot])
	For(r.Cols, 512, func(lo, hi int) {
		for k, f := range factors {
			axpy(-f, r.Row(k)[lo:hi], last[lo:hi])
		}
		for i := lo; i < hi; i++ {
			last[i] /= root
			left[i] -= last[i] * last[i]
		}
	})
	last[pivot], left[pivot] = root, 0
}
