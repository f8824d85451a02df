package svm

import (
	"fmt"

	"github.com/mercer-fl/mercer/kernel"
)

// cache keeps rows of a kernel matrix, the most recently used ones first to
// stay. A row holds the same numbers whether it was kept or read again.
type cache struct {
	source kernel.Source
	slot   []int       // slot of a row, or -1
	owner  []int       // row in a slot
	used   []uint64    // when a slot was last asked for
	rows   [][]float64 // one per slot, allocated when first needed
	limit  int
	width  int // of a row that is not shrunken
	clock  uint64
	misses int
}

// newCache keeps at most bytes of rows, and at least two rows: the solver holds
// both rows of its working set.
func newCache(source kernel.Source, bytes int64) *cache {
	n := source.Len()
	c := &cache{width: n}
	c.reset(source)
	c.limit = int(min(max(bytes/(8*int64(n)), 2), int64(n)))
	return c
}

// row returns kernel row i. It stays valid until two other rows have been asked
// for.
func (c *cache) row(i int) ([]float64, error) {
	c.clock++
	s := c.slot[i]
	if s < 0 {
		s = c.free()
		c.misses++
		c.source.Row(i, c.rows[s])
		if j := firstNotFinite(c.rows[s]); j >= 0 {
			return nil, &valueError{row: i, col: j, value: c.rows[s][j]}
		}
		c.slot[i], c.owner[s] = s, i
	}
	c.used[s] = c.clock
	return c.rows[s], nil
}

// free returns an empty slot, emptying the one that was idle longest when all
// are taken. The search is no longer than the row that is then read.
func (c *cache) free() int {
	if len(c.rows) < c.limit {
		c.rows = append(c.rows, make([]float64, len(c.slot), c.width))
		c.owner = append(c.owner, -1)
		c.used = append(c.used, 0)
		return len(c.rows) - 1
	}
	oldest := 0
	for s, when := range c.used {
		if when < c.used[oldest] {
			oldest = s
		}
	}
	if row := c.owner[oldest]; row >= 0 {
		c.slot[row] = -1
	}
	c.owner[oldest] = -1
	return oldest
}

// shrink goes over to source, which is the rows keep of the one before, in
// ascending order. Rows that are kept stay, without what is not.
func (c *cache) shrink(source kernel.Source, keep []int) {
	slot := make([]int, len(keep))
	for s, row := range c.rows {
		for a, k := range keep {
			row[a] = row[k]
		}
		c.rows[s], c.owner[s] = row[:len(keep)], -1
	}
	for a, k := range keep {
		slot[a] = c.slot[k]
		if slot[a] >= 0 {
			c.owner[slot[a]] = a
		}
	}
	c.source, c.slot = source, slot
	c.idle()
}

// reset empties the cache and goes over to a source of full width.
func (c *cache) reset(source kernel.Source) {
	c.source, c.slot = source, make([]int, c.width)
	for i := range c.slot {
		c.slot[i] = -1
	}
	for s, row := range c.rows {
		c.rows[s], c.owner[s] = row[:c.width], -1
	}
	c.idle()
}

// idle lets slots without a row be taken first.
func (c *cache) idle() {
	for s, row := range c.owner {
		if row < 0 {
			c.used[s] = 0
		}
	}
}

// firstNotFinite returns the index of the first NaN or infinity, or -1.
func firstNotFinite(v []float64) int {
	for i, x := range v {
		if x-x != 0 { // NaN for both
			return i
		}
	}
	return -1
}

// valueError is a kernel value that is NaN or infinite.
type valueError struct {
	row, col int
	value    float64
}

func (e *valueError) Error() string {
	return fmt.Sprintf("kernel value (%d, %d) is %v: check the data and the kernel's parameters", e.row, e.col, e.value)
}
