package kernel

import (
	"fmt"
	"sync"

	"github.com/mercer-fl/mercer/linalg"
)

// Panels is a [Source] that computes many rows at once in much less time than one after the other.
// A learner that needs rows repeatedly keeps as many rows as its own memory limit allows. When a
// row is missing, the learner requests several rows.
type Panels interface {
	Source
	// Panel sets dst[a][j] to K(rows[a], j), rounded to float32, for all j.
	Panel(rows []int, dst [][]float32)
	// PanelRows returns the number of rows that one call of Panel should request. Computing them
	// takes hardly longer than computing one row.
	PanelRows() int
}

// Lazy is a kernel matrix over rows that computes every value on request and keeps none. It
// implements [Source]. Use it if the matrix does not fit into memory: besides the rows it takes 8
// bytes per entry of dense rows, 12 to 17 per stored entry of sparse ones if there are as many entries as
// columns. If rows have more entries than there are rows, [Of] takes less memory.
//
// A value depends on its two rows only, not on what else is computed with it,
// and the matrix is exactly symmetric. It runs on all cores.
type Lazy struct {
	rows   rows
	norms  []float64
	kernel Kernel
}

// rows are the dense or sparse rows over which a Lazy computes kernel values.
type rows interface {
	len() int
	// products computes inner products of the left rows with the right rows (nil: all). It computes
	// a few columns at a time: see linalg.Products.
	products(left, right []int, use func(lo, hi int, dots linalg.Matrix[float64]))
	pick(which []int) rows
	// height returns the number of left rows whose products take no longer than those of one row.
	height() int
}

// NewLazy returns the kernel matrix of k over the rows of x (n x f). It keeps x and never changes
// it. Inner products are summed in float64.
func NewLazy[T linalg.Float](x linalg.Matrix[T], k Kernel) *Lazy {
	return &Lazy{rows: &denseRows[T]{x: x}, norms: SquaredNorms(x), kernel: k}
}

// NewLazySparse is like [NewLazy] for sparse rows, such as a dataset.CSR. Its time depends on the
// number of stored entries.
func NewLazySparse(x linalg.SparseRows, k Kernel) *Lazy {
	return &Lazy{rows: &sparseRows{x: x}, norms: linalg.SparseSquaredNorms(x), kernel: k}
}

// NewLazyOf is like [NewLazySparse] if x implements [linalg.SparseRows], and like [NewLazy]
// otherwise. If x is neither sparse nor a matrix, the Lazy holds a copy of x, with 8 more bytes per entry.
func NewLazyOf(x linalg.Rows, k Kernel) *Lazy {
	switch m := x.(type) {
	case linalg.SparseRows:
		return NewLazySparse(m, k)
	case linalg.Matrix[float64]:
		return NewLazy(m, k)
	case linalg.Matrix[float32]:
		return NewLazy(m, k)
	}
	dense := linalg.New[float64](x.Shape())
	linalg.Gather(dense, x, 0)
	return NewLazy(dense, k)
}

// Len returns n.
func (l *Lazy) Len() int { return l.rows.len() }

// Diagonal copies K(i, i) for all i into dst, which has n entries.
func (l *Lazy) Diagonal(dst []float64) {
	for i, xx := range l.norms {
		dst[i] = l.kernel.At(xx, xx, xx)
	}
}

// Row copies K(i, j) for all j into dst, which has n entries. Several rows at once take less time
// each: see [Lazy.Panel] and [Lazy.Block].
func (l *Lazy) Row(i int, dst []float64) {
	l.fill([]int{i}, nil, l.norms, linalg.Matrix[float64]{Rows: 1, Cols: l.Len(), Stride: l.Len(), Data: dst})
}

// Block copies K(rows[a], cols[b]) into dst, whose shape is len(rows) x len(cols).
func (l *Lazy) Block(rows, cols []int, dst linalg.Matrix[float64]) {
	if len(cols) == 0 {
		return
	}
	zz := make([]float64, len(cols))
	gather(zz, l.norms, cols)
	l.fill(rows, cols, zz, dst)
}

// fill sets dst to the kernel values of rows with cols (nil: all). zz holds the squared norms of
// cols.
func (l *Lazy) fill(rows, cols []int, zz []float64, dst linalg.Matrix[float64]) {
	l.rows.products(rows, cols, func(lo, hi int, dots linalg.Matrix[float64]) {
		for a, i := range rows {
			l.kernel.Map(dst.Row(a)[lo:hi], dots.Row(a), l.norms[i], zz[lo:hi])
		}
	})
}

// Panel sets dst[a][j] to K(rows[a], j), rounded to float32, for all j.
func (l *Lazy) Panel(rows []int, dst [][]float32) {
	if len(dst) != len(rows) {
		panic(fmt.Sprintf("kernel: a panel of %d rows into %d", len(rows), len(dst)))
	}
	l.rows.products(rows, nil, func(lo, hi int, dots linalg.Matrix[float64]) {
		for a, i := range rows {
			values := dots.Row(a)
			l.kernel.Map(values, values, l.norms[i], l.norms[lo:hi])
			linalg.Narrow(dst[a][lo:hi], values)
		}
	})
}

// PanelRows implements [Panels].
func (l *Lazy) PanelRows() int { return l.rows.height() }

// pick returns the kernel matrix of the given rows, which are all different.
func (l *Lazy) pick(which []int) *Lazy {
	norms := make([]float64, len(which))
	gather(norms, l.norms, which)
	return &Lazy{rows: l.rows.pick(which), norms: norms, kernel: l.kernel}
}

// denseRows holds the rows of x at the given indices, or all rows if the indices are nil. They are
// packed at the first product with all of them.
type denseRows[T linalg.Float] struct {
	x      linalg.Matrix[T]
	which  []int
	once   sync.Once
	packed *linalg.Packed
}

func (d *denseRows[T]) len() int {
	if d.which == nil {
		return d.x.Rows
	}
	return len(d.which)
}

func (d *denseRows[T]) pick(which []int) rows {
	return &denseRows[T]{x: d.x, which: translate(d.which, which)}
}

// translate returns rows[i] for each index i of the list, or the list itself if rows is nil.
func translate(rows, list []int) []int {
	if rows == nil {
		return list
	}
	return linalg.At(rows, list)
}

func (d *denseRows[T]) products(left, right []int, use func(lo, hi int, dots linalg.Matrix[float64])) {
	var packed *linalg.Packed
	if right == nil {
		d.once.Do(func() { d.packed = linalg.Pack(d.x, d.which) })
		packed = d.packed
	} else {
		packed = linalg.Pack(d.x, translate(d.which, right))
	}
	linalg.Products(d.x, translate(d.which, left), packed, use)
}

// height returns the number of rows of the largest tile of a micro-kernel. Fewer rows take as long,
// because they are padded with zeros and the right rows must be read from memory.
func (d *denseRows[T]) height() int { return 8 }

// sparseRows is like denseRows, but for sparse rows.
type sparseRows struct {
	x      linalg.SparseRows
	which  []int
	once   sync.Once
	packed *linalg.SparsePacked
}

func (s *sparseRows) len() int {
	if s.which == nil {
		return s.x.Rows()
	}
	return len(s.which)
}

func (s *sparseRows) pick(which []int) rows {
	return &sparseRows{x: s.x, which: translate(s.which, which)}
}

func (s *sparseRows) products(left, right []int, use func(lo, hi int, dots linalg.Matrix[float64])) {
	var packed *linalg.SparsePacked
	if right == nil {
		s.once.Do(func() { s.packed = linalg.PackSparse(s.x, s.which) })
		packed = s.packed
	} else {
		packed = linalg.PackSparse(s.x, translate(s.which, right))
	}
	linalg.SparseProducts(s.x, translate(s.which, left), packed, use)
}

// height returns 1, because each row's product reads only the columns that this row needs.
func (s *sparseRows) height() int { return 1 }

// blockValues is the greatest number of kernel values of a block of several rows. They take 32 MiB.
const blockValues = 1 << 22

// Blocks calls use with the kernel values of the given rows and columns of src, several rows at a
// time. block holds the rows from rows[lo] on, and its memory is reused. Use Blocks where the
// result of one call of Block would be too large.
func Blocks(src Source, rows, cols []int, use func(lo int, block linalg.Matrix[float64])) {
	room := linalg.New[float64](min(len(rows), max(1, blockValues/max(1, len(cols)))), len(cols))
	for lo := 0; lo < len(rows); lo += room.Rows {
		block := room.Panel(0, min(room.Rows, len(rows)-lo))
		src.Block(rows[lo:lo+block.Rows], cols, block)
		use(lo, block)
	}
}

// copies is a Lazy in which some rows occur several times. Row and Panel compute the values of equal
// columns only once.
type copies struct {
	*Lazy       // kernel matrix of the different rows
	of    []int // for each row, its index in Lazy
}

// subset returns the kernel matrix whose i-th row is rows[i] of l.
func (l *Lazy) subset(rows []int) Source {
	once, of := distinct(rows, l.Len())
	if len(once) == len(rows) {
		return l.pick(once)
	}
	return copies{l.pick(once), of}
}

// distinct returns the different row numbers among rows in the order of their first appearance. It
// also returns the index of each row among them. Row numbers are below n.
func distinct(rows []int, n int) (once, of []int) {
	place := make([]int, n) // index in once, plus 1; 0 for rows that are not in once
	once, of = make([]int, 0, len(rows)), make([]int, len(rows))
	for i, r := range rows {
		if place[r] == 0 {
			once = append(once, r)
			place[r] = len(once)
		}
		of[i] = place[r] - 1
	}
	return once, of
}

func (c copies) subset(rows []int) Source { return Subset(c.Lazy, linalg.At(c.of, rows)) }

// Len returns the number of rows, including repetitions.
func (c copies) Len() int { return len(c.of) }

// Diagonal copies K(i, i) for all i into dst, which has n entries.
func (c copies) Diagonal(dst []float64) {
	all := make([]float64, c.Lazy.Len())
	c.Lazy.Diagonal(all)
	gather(dst, all, c.of)
}

// Row copies K(i, j) for all j into dst, which has n entries.
func (c copies) Row(i int, dst []float64) {
	all := make([]float64, c.Lazy.Len())
	c.Lazy.Row(c.of[i], all)
	gather(dst, all, c.of)
}

// Block copies K(rows[a], cols[b]) into dst, whose shape is len(rows) x len(cols).
func (c copies) Block(rows, cols []int, dst linalg.Matrix[float64]) {
	c.Lazy.Block(linalg.At(c.of, rows), linalg.At(c.of, cols), dst)
}

// Panel sets dst[a][j] to K(rows[a], j), rounded to float32, for all j.
func (c copies) Panel(rows []int, dst [][]float32) {
	all := linalg.New[float32](len(rows), c.Lazy.Len())
	once := make([][]float32, len(rows))
	for a := range once {
		once[a] = all.Row(a)
	}
	c.Lazy.Panel(linalg.At(c.of, rows), once)
	linalg.Each(len(rows), 1, func(a int) { gather(dst[a], once[a], c.of) })
}

// Subset returns the part of src whose i-th row and column are rows[i] of src. The part can be a
// fold, or the two classes of one problem of one-vs-one. Rows can repeat. The caller must not change
// the slice rows afterwards. Subset panics if rows has an index that is not a row of src.
func Subset(src Source, rows []int) Source {
	for _, r := range rows {
		if r < 0 || r >= src.Len() {
			panic(fmt.Sprintf("kernel: a subset of %d rows with row %d", src.Len(), r))
		}
	}
	switch s := src.(type) {
	case subset: // a subset of a subset refers to the original matrix directly
		return subset{s.src, linalg.At(s.rows, rows)}
	case *Lazy:
		return s.subset(rows)
	case copies:
		return s.subset(rows)
	}
	return subset{src, rows}
}

type subset struct {
	src  Source
	rows []int
}

func (s subset) Len() int { return len(s.rows) }

func (s subset) Diagonal(dst []float64) {
	all := make([]float64, s.src.Len())
	s.src.Diagonal(all)
	gather(dst, all, s.rows)
}

func (s subset) Row(i int, dst []float64) {
	s.src.Block(s.rows[i:i+1], s.rows, linalg.Matrix[float64]{Rows: 1, Cols: len(s.rows), Stride: len(s.rows), Data: dst})
}

func (s subset) Block(rows, cols []int, dst linalg.Matrix[float64]) {
	s.src.Block(linalg.At(s.rows, rows), linalg.At(s.rows, cols), dst)
}

// Source is a symmetric kernel matrix over n rows that learners read. It can be in memory or
// computed on request. A Source is safe for concurrent reads.
type Source interface {
	// Len returns n.
	Len() int
	// Diagonal copies K(i, i) for all i into dst, which has n entries.
	Diagonal(dst []float64)
	// Row copies K(i, j) for all j into dst, which has n entries.
	Row(i int, dst []float64)
	// Block copies K(rows[a], cols[b]) into dst, whose shape is len(rows) x len(cols).
	Block(rows, cols []int, dst linalg.Matrix[float64])
}
