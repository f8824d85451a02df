package linalg

import "fmt"

// MulSparse sets dst to the products of the given rows of a with all rows of b,
// on all cores, touching only the stored entries of a: dst is len(rows) x n, b
// is n x k, a has k columns. It panics on other shapes. Products are added in
// ascending order of the columns.
func MulSparse(dst Matrix[float64], a SparseRows, rows []int, b Matrix[float64]) {
	if dst.Rows != len(rows) || dst.Cols != b.Rows || a.Cols() != b.Cols {
		panic(fmt.Sprintf("linalg: %d x %d is not the shape of (%d x %d)(%d x %d)^T", dst.Rows, dst.Cols, len(rows), a.Cols(), b.Rows, b.Cols))
	}
	columns := transposed(b, make([]float64, b.Rows*b.Cols))
	For(len(rows), max(1, 1<<14/max(1, dst.Cols)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := dst.Row(i)
			clear(row)
			cols, values := a.Entries(rows[i])
			for k, col := range cols {
				axpy(values[k], columns.Row(int(col)), row)
			}
		}
	})
}
