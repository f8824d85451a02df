package dataset

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
)

// Dense is a table that stores every cell as a float64.
type Dense struct{ cells dense[float64] }

// Dense32 is a table that stores every cell as a float32, in half the memory of a Dense. Readers of arrays and
// parquet files choose Dense32 if float32 holds every value of the stored types exactly. Images always become a
// Dense32, and CSV text a Dense.
type Dense32 struct{ cells dense[float32] }

// NewDense returns a table that shares the data of m. It panics if m's data are too short for its
// shape.
func NewDense(m linalg.Matrix[float64]) *Dense { return &Dense{denseOver(m)} }

// NewDense32 returns a table that shares the data of m. It panics if m's data are too short for its
// shape.
func NewDense32(m linalg.Matrix[float32]) *Dense32 { return &Dense32{denseOver(m)} }

// Subset returns the given rows without copying them.
func (d *Dense) Subset(rows []int) Table { return &Dense{d.cells.choose(rows)} }

// Subset returns the given rows without copying them.
func (d *Dense32) Subset(rows []int) Table { return &Dense32{d.cells.choose(rows)} }

// Columns returns the given columns. It copies them unless they are adjacent, in ascending order, and no rows
// were stacked.
func (d *Dense) Columns(cols []int) Table { return &Dense{d.cells.narrow(cols)} }

// Columns returns the given columns. It copies them unless they are adjacent, in ascending order, and no rows
// were stacked.
func (d *Dense32) Columns(cols []int) Table { return &Dense32{d.cells.narrow(cols)} }

// Matrix returns the cells as a matrix of Rows x Cols. It copies a table whose rows were stacked, or
// selected other than as one range; any other table shares its memory with the matrix.
func (d *Dense) Matrix() linalg.Matrix[float64] { return d.cells.matrix() }

// Rows returns the number of rows.
func (d *Dense) Rows() int { return d.cells.m.Rows }

// Cols returns the number of columns.
func (d *Dense) Cols() int { return d.cells.m.Cols }

// Row writes row i into dst, which has length Cols. If dst is nil, Row allocates it.
func (d *Dense) Row(i int, dst []float64) []float64 { return d.cells.read(i, dst) }

// Each calls f for every cell of row i, zeros included.
func (d *Dense) Each(i int, f func(col int, value float64)) { d.cells.each(i, f) }

// Matrix returns the cells as a matrix of Rows x Cols. It copies a table whose rows were stacked, or
// selected other than as one range; any other table shares its memory with the matrix.
func (d *Dense32) Matrix() linalg.Matrix[float32] { return d.cells.matrix() }

// Rows returns the number of rows.
func (d *Dense32) Rows() int { return d.cells.m.Rows }

// Cols returns the number of columns.
func (d *Dense32) Cols() int { return d.cells.m.Cols }

// Row writes row i into dst, which has length Cols. If dst is nil, Row allocates it.
func (d *Dense32) Row(i int, dst []float64) []float64 { return d.cells.read(i, dst) }

// Each calls f for every cell of row i, zeros included.
func (d *Dense32) Each(i int, f func(col int, value float64)) { d.cells.each(i, f) }

// DenseOf returns a table as a Dense. A table that is a Dense already is not copied. A copy takes
// 8*Rows*Cols bytes, so check the shape of a wide table before the call.
func DenseOf(t Table) *Dense {
	if d, ok := t.(*Dense); ok {
		return d
	}
	m := linalg.New[float64](t.Rows(), t.Cols())
	linalg.Gather(m, RowsOf(t), 0)
	return NewDense(m)
}

// RowsOf returns a reader that converts the rows of t to float64. Computations that read
// some rows at a time thus need no copy of t. The rows of a CSR are [linalg.SparseRows] as well.
func RowsOf(t Table) linalg.Rows {
	if c, ok := t.(*CSR); ok {
		return sparseRows{tableRows{c}, c}
	}
	return tableRows{t}
}

type tableRows struct{ t Table }

func (r tableRows) Shape() (rows, cols int) { return r.t.Rows(), r.t.Cols() }

func (r tableRows) ReadRow(i int, dst []float64) { r.t.Row(i, dst) }

type sparseRows struct {
	tableRows
	*CSR
}

// dense is a table that stores every cell. Its rows are all rows of one matrix, selected rows of
// one matrix in any order, or rows of several matrices. Selecting and stacking rows therefore
// copies nothing.
type dense[T linalg.Float] struct {
	m     linalg.Matrix[T]
	order []int // indices of the selected rows of m; nil selects all rows
	at    [][]T // the rows, if they belong to several matrices; else nil
}

func denseOver[T linalg.Float](m linalg.Matrix[T]) dense[T] {
	if m.Rows < 0 || m.Cols < 0 || m.Stride < m.Cols || m.Rows > 0 && (m.Rows-1)*m.Stride+m.Cols > len(m.Data) {
		panic(fmt.Sprintf("dataset: %d numbers with stride %d cannot be a %d x %d matrix", len(m.Data), m.Stride, m.Rows, m.Cols))
	}
	return dense[T]{m: m}
}

// scattered returns a table over rows that can belong to several matrices.
func scattered[T linalg.Float](at [][]T, cols int) dense[T] {
	return dense[T]{m: linalg.Matrix[T]{Rows: len(at), Cols: cols, Stride: cols}, at: at}
}

// whole reports whether the table has all rows of its matrix in their order.
func (d dense[T]) whole() bool { return d.order == nil && d.at == nil }

// row returns row i without copying it.
func (d dense[T]) row(i int) []T {
	switch {
	case d.at != nil:
		return d.at[i]
	case d.order != nil:
		return d.m.Row(d.order[i])
	}
	return d.m.Row(i)
}

// matrix returns the cells as a matrix. It copies only rows that were stacked, or selected other than as one range.
func (d dense[T]) matrix() linalg.Matrix[T] {
	if d.whole() {
		return d.m
	}
	m := linalg.New[T](d.m.Rows, d.m.Cols)
	for i := range m.Rows {
		copy(m.Row(i), d.row(i))
	}
	return m
}

// read writes row i into dst, or into a new slice if dst is nil.
func (d dense[T]) read(i int, dst []float64) []float64 {
	if dst == nil {
		dst = make([]float64, d.m.Cols)
	}
	linalg.Widen(dst, d.row(i))
	return dst
}

// each calls f for every cell of row i, zeros included.
func (d dense[T]) each(i int, f func(col int, value float64)) {
	for j, v := range d.row(i) {
		f(j, float64(v))
	}
}

// choose returns the given rows without copying them.
func (d dense[T]) choose(rows []int) dense[T] {
	if d.whole() && consecutive(rows) {
		return dense[T]{m: d.m.Panel(rows[0], rows[0]+len(rows))}
	}
	chosen := dense[T]{m: d.m}
	chosen.m.Rows = len(rows)
	switch {
	case d.at != nil:
		chosen.at = linalg.At(d.at, rows)
	case d.order != nil:
		chosen.order = linalg.At(d.order, rows)
	default:
		chosen.order = append([]int{}, rows...)
	}
	return chosen
}

func consecutive(rows []int) bool {
	for a, i := range rows {
		if i != rows[0]+a {
			return false
		}
	}
	return len(rows) > 0
}

// narrow returns the given columns. It copies them unless they are adjacent columns of one matrix.
func (d dense[T]) narrow(cols []int) dense[T] {
	if d.at == nil && len(d.m.Data) > 0 && consecutive(cols) {
		d.m.Cols, d.m.Data = len(cols), d.m.Data[cols[0]:]
		return d
	}
	m := linalg.New[T](d.m.Rows, len(cols))
	for i := range m.Rows {
		from, to := d.row(i), m.Row(i)
		for b, j := range cols {
			to[b] = from[j]
		}
	}
	return dense[T]{m: m}
}

// stackDense stacks tables of equal width without copying them.
func stackDense[T linalg.Float](tables []dense[T]) dense[T] {
	if len(tables) == 1 {
		return tables[0]
	}
	var at [][]T
	for _, c := range tables {
		for i := range c.m.Rows {
			at = append(at, c.row(i))
		}
	}
	return scattered(at, tables[0].m.Cols)
}

// finite reports whether all cells of row i are finite. The test uses that v-v is NaN if v is
// infinite or NaN.
func (d dense[T]) finite(i int) bool {
	for _, v := range d.row(i) {
		if v-v != 0 {
			return false
		}
	}
	return true
}
