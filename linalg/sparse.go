package linalg

import (
	"math"
	"sync"
)

// SparseRows are rows of which only some entries are stored, those that are not
// 0: the columns of a row ascend. dataset.CSR is one.
type SparseRows interface {
	Rows() int
	Cols() int
	// Entries returns the columns and values of row i, which stay as they are.
	Entries(i int) (cols []int32, values []float64)
}

// sparseWidth is how many rows are spread out at a time.
const sparseWidth = 32

// SparseProducts computes the inner products of the rows left of a with the
// rows right of a, all if right is nil, and gives them to use as [Products]
// does: dots is len(left) x (hi-lo), for right[lo] to right[hi-1]. It takes
// time by stored entries, and memory by those of the left rows: sparseWidth
// numbers per column that they have. Products are added in the order of the
// columns, fused on vector paths.
func SparseProducts(a SparseRows, left, right []int, use func(lo, hi int, dots Matrix[float64])) {
	sparseProducts(Paths()[0], a, left, right, use)
}

func sparseProducts(p Path, a SparseRows, left, right []int, use func(lo, hi int, dots Matrix[float64])) {
	n := a.Rows()
	if right != nil {
		n = len(right)
	}
	c := compactOf(a, left)
	step := span(len(left), sparseWidth)
	combine := sparseOf(p)
	For(n, step, func(lo, hi int) {
		at := room(len(left) * step)
		defer rooms.Put(at)
		spread := room(c.columns * sparseWidth)
		defer rooms.Put(spread)
		clear((*spread)[:c.columns*sparseWidth])
		dots := Matrix[float64]{Rows: len(left), Cols: hi - lo, Stride: step, Data: *at}
		for j := lo; j < hi; j += sparseWidth {
			c.spread(a, right, j, min(j+sparseWidth, hi), *spread)
			for i := range left {
				index, value := c.row(i)
				combine(len(index), index, value, *spread, dots.Data[i*step+j-lo:])
			}
			c.wipe(a, right, j, min(j+sparseWidth, hi), *spread)
		}
		use(lo, hi, dots)
	})
	places.Put(c.place)
}

// compact is the left rows over the columns that they have.
type compact struct {
	columns int
	place   *[]int32 // by column of a: 1 + that among columns, or 0
	start   []int
	index   []int32
	value   []float64
}

// places are the arrays of products that are done.
var places sync.Pool

func compactOf(a SparseRows, left []int) *compact {
	c := &compact{start: make([]int, 1, len(left)+1)}
	c.place, _ = places.Get().(*[]int32)
	if c.place == nil || len(*c.place) < a.Cols() {
		fresh := make([]int32, a.Cols())
		c.place = &fresh
	}
	place := *c.place
	clear(place)
	for _, i := range left {
		cols, values := a.Entries(i)
		for _, col := range cols {
			if place[col] == 0 {
				c.columns++
				place[col] = int32(c.columns)
			}
			c.index = append(c.index, place[col]-1)
		}
		c.value = append(c.value, values...)
		c.start = append(c.start, len(c.index))
	}
	return c
}

func (c *compact) row(i int) ([]int32, []float64) {
	lo, hi := c.start[i], c.start[i+1]
	return c.index[lo:hi], c.value[lo:hi]
}

// spread writes rows lo to hi-1 into to, column by column; wipe takes them out.
func (c *compact) spread(a SparseRows, right []int, lo, hi int, to []float64) {
	place := *c.place
	for j := lo; j < hi; j++ {
		cols, values := a.Entries(rowOf(right, j))
		for k, col := range cols {
			if p := place[col]; p > 0 {
				to[int(p-1)*sparseWidth+j-lo] = values[k]
			}
		}
	}
}

func (c *compact) wipe(a SparseRows, right []int, lo, hi int, from []float64) {
	place := *c.place
	for j := lo; j < hi; j++ {
		cols, _ := a.Entries(rowOf(right, j))
		for _, col := range cols {
			if p := place[col]; p > 0 {
				from[int(p-1)*sparseWidth+j-lo] = 0
			}
		}
	}
}

func rowOf(rows []int, j int) int {
	if rows == nil {
		return j
	}
	return rows[j]
}

// sparseCombination sets the first sparseWidth entries of dst to the sum over k < n of
// value[k] times the entries of spread from index[k] sparseWidth on.
type sparseCombination func(n int, index []int32, value, spread, dst []float64)

func sparsePortable(n int, index []int32, value, spread, dst []float64) {
	var sums [sparseWidth]float64
	for k, at := range index[:n] {
		v, from := value[k], spread[int(at)*sparseWidth:][:sparseWidth]
		for j, w := range from {
			sums[j] += float64(v * w) //nolint:unconvert // forbids fusing
		}
	}
	copy(dst[:sparseWidth], sums[:])
}

// SparseSquaredNorms returns the inner product of each row of a with itself,
// bit for bit what SparseProducts computes.
func SparseSquaredNorms(a SparseRows) []float64 { return sparseSquaredNorms(Paths()[0], a) }

func sparseSquaredNorms(p Path, a SparseRows) []float64 {
	norms := make([]float64, a.Rows())
	for i := range norms {
		_, values := a.Entries(i)
		for _, v := range values {
			if p == Portable {
				norms[i] += float64(v * v) //nolint:unconvert // forbids fusing
			} else {
				norms[i] = math.FMA(v, v, norms[i])
			}
		}
	}
	return norms
}
