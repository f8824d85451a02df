package dataset

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
)

// Dense32 is Dense in half the memory: a table that stores every cell as a
// float32. It is what readers choose where nothing is lost by it, as for pixels
// and for tables that were float32 before.
type Dense32 struct{ m linalg.Matrix[float32] }

// NewDense32 returns a table over m, which it aliases. It panics if m's data are
// too short for its shape.
func NewDense32(m linalg.Matrix[float32]) *Dense32 {
	if m.Rows < 0 || m.Cols < 0 || m.Stride < m.Cols || m.Rows > 0 && (m.Rows-1)*m.Stride+m.Cols > len(m.Data) {
		panic(fmt.Sprintf("dataset: %d numbers with stride %d cannot be a %d x %d matrix", len(m.Data), m.Stride, m.Rows, m.Cols))
	}
	return &Dense32{m: m}
}

// Matrix returns the cells, Rows x Cols, aliasing d.
func (d *Dense32) Matrix() linalg.Matrix[float32] { return d.m }

// Rows returns the number of rows.
func (d *Dense32) Rows() int { return d.m.Rows }

// Cols returns the number of columns.
func (d *Dense32) Cols() int { return d.m.Cols }

// Row writes row i into dst, of length Cols; nil allocates.
func (d *Dense32) Row(i int, dst []float64) []float64 {
	if dst == nil {
		dst = make([]float64, d.m.Cols)
	}
	for j, v := range d.m.Row(i) {
		dst[j] = float64(v)
	}
	return dst
}

// Subset copies the given rows, or shares memory where they follow each other.
func (d *Dense32) Subset(rows []int) Table {
	if consecutive(rows) {
		return NewDense32(d.m.Panel(rows[0], rows[0]+len(rows)))
	}
	m := linalg.New[float32](len(rows), d.m.Cols)
	for a, i := range rows {
		copy(m.Row(a), d.m.Row(i))
	}
	return NewDense32(m)
}

func consecutive(rows []int) bool {
	for a, i := range rows {
		if i != rows[0]+a {
			return false
		}
	}
	return len(rows) > 0
}

// Columns copies the given columns.
func (d *Dense32) Columns(cols []int) Table {
	m := linalg.New[float32](d.m.Rows, len(cols))
	for i := range m.Rows {
		from, to := d.m.Row(i), m.Row(i)
		for b, j := range cols {
			to[b] = from[j]
		}
	}
	return NewDense32(m)
}

// Each calls f for every cell of row i, zeros included.
func (d *Dense32) Each(i int, f func(col int, value float64)) {
	for j, v := range d.m.Row(i) {
		f(j, float64(v))
	}
}
