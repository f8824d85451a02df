package linalg

import (
	"fmt"
	"slices"
)

// SparseRows is a table that stores only some entries of each row, including all that are not 0.
// The columns of a row ascend. A dataset.CSR is one.
type SparseRows interface {
	Rows() int
	Cols() int
	// Entries returns the columns and values of row i, which the caller must not change.
	Entries(i int) (cols []int32, values []float64)
}

// SparsePacked stores sparse rows by columns, for products with one row or a few. A product with a
// row reads only the columns in which that row has entries. A SparsePacked takes 12 bytes per
// entry, and 5 bytes for each column of each block of rows. It is read only.
type SparsePacked struct {
	rows   int
	height int // number of rows of a block
	blocks []columns
}

// columns stores the rows of a block column by column.
type columns struct {
	start []int32 // index of each column's first entry, and the number of entries
	row   []int32 // row number within the block
	value []float64
	alike []bool // whether all entries of a column have one value, such as 1
}

// sparseHeight is the least number of rows of one of several blocks. The sums for so many rows stay in the
// first-level cache.
const sparseHeight = 2048

// PackSparse packs the given rows of a, or all rows if rows is nil. It runs on all cores.
func PackSparse(a SparseRows, rows []int) *SparsePacked {
	p := &SparsePacked{rows: a.Rows()}
	if rows != nil {
		p.rows = len(rows)
	}
	stored := 0
	for j := range p.rows {
		cols, _ := a.Entries(rowOf(rows, j))
		stored += len(cols)
	}
	count := max(1, min(p.rows/sparseHeight, stored/max(a.Cols(), 1)))
	p.height = max(1, (p.rows+count-1)/count)
	p.blocks = make([]columns, (p.rows+p.height-1)/p.height)
	For(len(p.blocks), 1, func(b, _ int) {
		p.blocks[b] = columnsOf(a, rows, b*p.height, min((b+1)*p.height, p.rows))
	})
	return p
}

func rowOf(rows []int, j int) int {
	if rows == nil {
		return j
	}
	return rows[j]
}

// columnsOf stores rows lo to hi-1 by columns. It counts entries in a first pass and stores them in
// a second.
func columnsOf(a SparseRows, rows []int, lo, hi int) columns {
	c := columns{start: make([]int32, a.Cols()+2)}
	for j := lo; j < hi; j++ {
		cols, _ := a.Entries(rowOf(rows, j))
		for _, col := range cols {
			c.start[col+2]++
		}
	}
	for col := 2; col < len(c.start); col++ {
		c.start[col] += c.start[col-1]
	}
	stored := c.start[len(c.start)-1]
	c.row, c.value = make([]int32, stored), make([]float64, stored)
	for j := lo; j < hi; j++ {
		cols, values := a.Entries(rowOf(rows, j))
		for k, col := range cols {
			at := c.start[col+1] // place of the column's next entry
			c.row[at], c.value[at] = int32(j-lo), values[k]
			c.start[col+1]++
		}
	}
	c.start = c.start[:len(c.start)-1]
	c.alike = make([]bool, a.Cols())
	for col := range c.alike {
		values := c.value[c.start[col]:c.start[col+1]]
		c.alike[col] = !slices.ContainsFunc(values, func(v float64) bool { return v != values[0] })
	}
	return c
}

// SparseProducts is like [Products] for sparse rows. An inner product is the sum over the columns
// that both rows have, in ascending order, with each product rounded before it is added: it is
// the same on every path and in either order of the rows.
func SparseProducts(a SparseRows, rows []int, b *SparsePacked, use func(lo, hi int, dots Matrix[float64])) {
	For(len(b.blocks), 1, func(k, _ int) {
		lo, hi := k*b.height, min((k+1)*b.height, b.rows)
		at := room(len(rows) * (hi - lo))
		defer buffers.Put(at)
		dots := Matrix[float64]{Rows: len(rows), Cols: hi - lo, Stride: hi - lo, Data: *at}
		for i, r := range rows {
			cols, values := a.Entries(r)
			b.blocks[k].products(cols, values, dots.Row(i))
		}
		use(lo, hi, dots)
	})
}

// products sets dots to the inner products of a row with the block's rows.
func (c columns) products(cols []int32, values, dots []float64) {
	clear(dots)
	for k, col := range cols {
		v := values[k]
		lo, hi := c.start[col], c.start[col+1]
		rows, stored := c.row[lo:hi], c.value[lo:hi]
		if c.alike[col] && len(stored) > 0 {
			addTo(dots, rows, v*stored[0])
			continue
		}
		for e, w := range stored {
			dots[rows[e]] += float64(v * w) //nolint:unconvert // forbids fusing
		}
	}
}

// addTo adds a number to the sums of the given rows.
func addTo(sums []float64, rows []int32, v float64) {
	for _, r := range rows {
		sums[r] += v
	}
}

// SparseSquaredNorms returns the inner product of each row of a with itself. The values have the
// same bits as those of [SparseProducts].
func SparseSquaredNorms(a SparseRows) []float64 {
	norms := make([]float64, a.Rows())
	for i := range norms {
		_, values := a.Entries(i)
		for _, v := range values {
			norms[i] += float64(v * v) //nolint:unconvert // forbids fusing
		}
	}
	return norms
}

// MulSparse sets dst to the inner products of the given rows of a with all rows of b. It runs on
// all cores and reads only the stored entries of a. dst is len(rows) x n, b is n x k, a has k
// columns. It panics on other shapes. Products are added in ascending order of the columns.
func MulSparse(dst Matrix[float64], a SparseRows, rows []int, b Matrix[float64]) {
	if dst.Rows != len(rows) || dst.Cols != b.Rows || a.Cols() != b.Cols {
		panic(fmt.Sprintf("linalg: %d x %d is not the shape of (%d x %d)(%d x %d)^T", dst.Rows, dst.Cols, len(rows), a.Cols(), b.Rows, b.Cols))
	}
	column := func(col int32, scratch []float64) []float64 { return gatherColumn(scratch, b, int(col)) }
	if stored(a, rows) >= b.Cols { // most columns are read, some of them often
		columns := transposed(b, make([]float64, b.Rows*b.Cols))
		column = func(col int32, _ []float64) []float64 { return columns.Row(int(col)) }
	}
	For(len(rows), max(1, 1<<14/max(1, dst.Cols)), func(lo, hi int) {
		scratch := make([]float64, b.Rows)
		for i := lo; i < hi; i++ {
			row := dst.Row(i)
			clear(row)
			cols, values := a.Entries(rows[i])
			for k, col := range cols {
				axpy(values[k], column(col, scratch), row)
			}
		}
	})
}

// stored returns the number of entries that the given rows store.
func stored(a SparseRows, rows []int) int {
	n := 0
	for _, i := range rows {
		cols, _ := a.Entries(i)
		n += len(cols)
	}
	return n
}

// gatherColumn copies a column of m to dst and returns it.
func gatherColumn(dst []float64, m Matrix[float64], col int) []float64 {
	for i := range dst {
		dst[i] = m.Row(i)[col]
	}
	return dst
}
