package ring128

import "fmt"

// Matrix is a matrix of words, row after row. Vectors are rows: a product of a symmetric matrix X and
// the vectors y is [AddMulTransB] of y and X.
type Matrix struct {
	Rows, Cols int
	Data       []Word // Rows x Cols words
}

// New returns a matrix of zeros.
func New(rows, cols int) Matrix { return Matrix{rows, cols, make([]Word, rows*cols)} }

// Row returns row i, which shares memory with the matrix.
func (m Matrix) Row(i int) []Word { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// Triangle returns the number of words in the upper triangle of an n x n matrix.
func Triangle(n int) int { return n * (n + 1) / 2 }

// Start returns the index of entry (i, i) in the upper triangle of an n x n matrix, row after row. Package
// moments uses the same order.
func Start(n, i int) int { return i*n - i*(i-1)/2 }

// Symmetric returns the n x n matrix with the given upper triangle. It panics on another number of words.
func Symmetric(n int, triangle []Word) Matrix {
	m := New(n, n)
	SetSymmetric(m, triangle, 0, n)
	return m
}

// SetSymmetric sets rows lo to hi-1 of the upper triangle of m, and columns lo to hi-1 of its lower triangle,
// to the words of the given upper triangle. It panics on other sizes.
func SetSymmetric(m Matrix, triangle []Word, lo, hi int) {
	n := m.Rows
	if m.Cols != n || len(triangle) != Triangle(n) {
		panic(fmt.Sprintf("ring128: %d words for the triangle of %d x %d", len(triangle), n, m.Cols))
	}
	checkRows(lo, hi, n)
	for i := lo; i < hi; i += panel { // a panel's columns are short runs of words in each row
		end := min(i+panel, hi)
		for k := i; k < end; k++ {
			copy(m.Row(k)[k:], triangle[Start(n, k):Start(n, k+1)])
		}
		for j := i; j < n; j++ {
			row := m.Row(j)
			for k := i; k < min(end, j); k++ {
				row[k] = triangle[Start(n, k)+j-k]
			}
		}
	}
}
