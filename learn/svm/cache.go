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
	clock  uint64
	misses int
}

// newCache keeps at most bytes of rows, and at least two rows: the solver holds
// both rows of its working set.
func newCache(source kernel.Source, bytes int64) *cache {
	n := source.Len()
	c := &cache{source: source, slot: make([]int, n)}
	for i := range c.slot {
		c.slot[i] = -1
	}
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
		c.rows = append(c.rows, make([]float64, len(c.slot)))
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
