package dataset

import (
	"cmp"
	"fmt"
	"slices"
)

// CSR is a sparse table in the format of compressed sparse rows. Row i holds the entries start[i]
// to start[i+1]-1, in strictly ascending order of their columns.
type CSR struct {
	cols  int
	start []int // index of each row's first entry, and last the number of all entries
	index []int32
	value []float64
}

// NewCSR returns a table that shares the three arrays of SciPy's CSR format. indptr has length
// rows+1; indices and data have length indptr[rows]. It refuses arrays whose lengths disagree, and
// columns that are out of range or do not ascend within a row.
func NewCSR(cols int, indptr []int, indices []int32, data []float64) (*CSR, error) {
	if cols < 0 || cols > MaxColumns {
		return nil, fmt.Errorf("dataset: a sparse table has %d columns; choose 0 to %d", cols, MaxColumns)
	}
	if len(indptr) == 0 || indptr[0] != 0 || indptr[len(indptr)-1] != len(data) || len(indices) != len(data) {
		return nil, fmt.Errorf("dataset: indptr must run from 0 to the common length of indices and data; indices has %d entries and data has %d", len(indices), len(data))
	}
	for i := range len(indptr) - 1 {
		switch {
		case indptr[i+1] < indptr[i]:
			return nil, fmt.Errorf("dataset: indptr decreases from %d to %d after row %d; give the index of each row's first entry", indptr[i], indptr[i+1], i)
		case indptr[i+1] > len(data):
			return nil, fmt.Errorf("dataset: indptr gives row %d an end of %d, but there are %d entries; give the index of each row's first entry", i, indptr[i+1], len(data))
		}
		if err := ascending(indices[indptr[i]:indptr[i+1]], cols); err != nil {
			return nil, fmt.Errorf("dataset: row %d: %w", i, err)
		}
	}
	return &CSR{cols: cols, start: indptr, index: indices, value: data}, nil
}

func ascending(indices []int32, cols int) error {
	last := int32(-1)
	for _, j := range indices {
		switch {
		case j < 0 || int(j) >= cols:
			return fmt.Errorf("column %d (from 0) is outside the table of %d columns; correct the index", j, cols)
		case j <= last:
			return fmt.Errorf("column %d follows column %d; sort the row and merge its duplicates", j, last)
		}
		last = j
	}
	return nil
}

// Rows returns the number of rows.
func (c *CSR) Rows() int { return max(len(c.start)-1, 0) }

// Cols returns the number of columns.
func (c *CSR) Cols() int { return c.cols }

// Stored returns the number of stored entries.
func (c *CSR) Stored() int { return len(c.value) }

// Entries returns the columns and values of row i's stored entries without copying them.
func (c *CSR) Entries(i int) (cols []int32, values []float64) {
	lo, hi := c.start[i], c.start[i+1]
	return c.index[lo:hi], c.value[lo:hi]
}

// Row writes all cells of row i into dst, which has length Cols. If dst is nil, Row allocates it.
func (c *CSR) Row(i int, dst []float64) []float64 {
	if dst == nil {
		dst = make([]float64, c.cols)
	}
	clear(dst)
	cols, values := c.Entries(i)
	for a, j := range cols {
		dst[j] = values[a]
	}
	return dst
}

// Subset returns a copy of the given rows.
func (c *CSR) Subset(rows []int) Table {
	s := &CSR{cols: c.cols, start: make([]int, 1, len(rows)+1)}
	for _, i := range rows {
		s.push(c.Entries(i))
	}
	return s
}

// Widened returns the table with empty columns added, so that it has cols columns. It is for a
// sparse text in which no row has an entry in the last columns. The two tables share memory.
// Widened panics if cols is below Cols.
func (c *CSR) Widened(cols int) *CSR {
	if cols < c.cols {
		panic(fmt.Sprintf("dataset: cannot widen %d columns to %d", c.cols, cols))
	}
	w := *c
	w.cols = cols
	return &w
}

func (c *CSR) push(cols []int32, values []float64) {
	c.index = append(c.index, cols...)
	c.value = append(c.value, values...)
	c.start = append(c.start, len(c.index))
}

// Columns returns a copy of the given columns. A column can be given more than once.
func (c *CSR) Columns(cols []int) Table {
	targets := make(map[int32][]int32, len(cols))
	for b, j := range cols {
		targets[int32(j)] = append(targets[int32(j)], int32(b))
	}
	s := &CSR{cols: len(cols), start: make([]int, 1, len(c.start))}
	var row []entry
	for i := range c.Rows() {
		row = row[:0]
		from, values := c.Entries(i)
		for a, j := range from {
			for _, b := range targets[j] {
				row = append(row, entry{b, values[a]})
			}
		}
		s.pushSorted(row)
	}
	return s
}

type entry struct {
	col   int32
	value float64
}

func (c *CSR) pushSorted(row []entry) {
	slices.SortFunc(row, func(a, b entry) int { return cmp.Compare(a.col, b.col) })
	for _, e := range row {
		c.index = append(c.index, e.col)
		c.value = append(c.value, e.value)
	}
	c.start = append(c.start, len(c.index))
}

// Each calls f for every stored entry of row i.
func (c *CSR) Each(i int, f func(col int, value float64)) {
	cols, values := c.Entries(i)
	for a, j := range cols {
		f(int(j), values[a])
	}
}
