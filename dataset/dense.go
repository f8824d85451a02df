package dataset

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
)

// Dense is a table that stores every cell.
type Dense struct{ m linalg.Matrix[float64] }

// NewDense returns a table over m, which it aliases. It panics if m's data are
// too short for its shape.
func NewDense(m linalg.Matrix[float64]) *Dense {
	if m.Rows < 0 || m.Cols < 0 || m.Stride < m.Cols || m.Rows > 0 && (m.Rows-1)*m.Stride+m.Cols > len(m.Data) {
		panic(fmt.Sprintf("dataset: %d numbers with stride %d cannot be a %d x %d matrix", len(m.Data), m.Stride, m.Rows, m.Cols))
	}
	return &Dense{m: m}
}

// DenseOf returns t itself if it is dense, else a copy that takes
// 8*Rows*Cols bytes: look at the shape before calling it on a wide sparse table.
func DenseOf(t Table) *Dense {
	if d, ok := t.(*Dense); ok {
		return d
	}
	m := linalg.New[float64](t.Rows(), t.Cols())
	for i := range m.Rows {
		t.Row(i, m.Row(i))
	}
	return NewDense(m)
}

// Matrix returns the cells, Rows x Cols, aliasing d.
func (d *Dense) Matrix() linalg.Matrix[float64] { return d.m }

// Rows returns the number of rows.
func (d *Dense) Rows() int { return d.m.Rows }

// Cols returns the number of columns.
func (d *Dense) Cols() int { return d.m.Cols }

// Row copies row i into dst, of length Cols; nil allocates.
func (d *Dense) Row(i int, dst []float64) []float64 {
	if dst == nil {
		dst = make([]float64, d.m.Cols)
	}
	copy(dst, d.m.Row(i))
	return dst
}

// Subset copies the given rows.
func (d *Dense) Subset(rows []int) Table {
	m := linalg.New[float64](len(rows), d.m.Cols)
	for a, i := range rows {
		copy(m.Row(a), d.m.Row(i))
	}
	return NewDense(m)
}

// Columns copies the given columns.
func (d *Dense) Columns(cols []int) Table {
	m := linalg.New[float64](d.m.Rows, len(cols))
	for i := range m.Rows {
		from, to := d.m.Row(i), m.Row(i)
		for b, j := range cols {
			to[b] = from[j]
		}
	}
	return NewDense(m)
}

// Each calls f for every cell of row i, zeros included.
func (d *Dense) Each(i int, f func(col int, value float64)) {
	for j, v := range d.m.Row(i) {
		f(j, v)
	}
}
