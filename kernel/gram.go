package kernel

import (
	"fmt"
	"slices"
	"sync"

	"github.com/mercer-fl/mercer/linalg"
)

// Gram is a kernel matrix computed from a linear Gram matrix in memory, the matrix of inner
// products. It implements [Source]. It keeps the inner products and computes kernel values on
// request, so that a grid over kernels and their parameters needs one matrix. Use [Materialize] if
// rows are read many times.
type Gram struct {
	dot      linalg.Matrix[float64]
	diagonal []float64
	kernel   Kernel
	// scratch holds buffers (*[]float64) for the squared norms of a block's columns. The runtime
	// keeps a pool in use alive for two garbage collections, together with the object that has the
	// pool as a field. As a separate allocation, the pool does not keep the matrix of the Gram
	// alive.
	scratch *sync.Pool
}

// Of returns the kernel matrix of k over dot, the matrix of inner products of n rows (n x n,
// symmetric). It keeps dot and never changes it. It panics unless dot is square.
func Of(dot linalg.Matrix[float64], k Kernel) *Gram {
	scratch := &sync.Pool{New: func() any { return new([]float64) }}
	return &Gram{dot: dot, diagonal: diagonal(dot), kernel: k, scratch: scratch}
}

// diagonal returns a copy of the diagonal of a square matrix.
func diagonal(m linalg.Matrix[float64]) []float64 {
	if m.Rows != m.Cols {
		panic(fmt.Sprintf("kernel: a Gram matrix is square, not %d x %d", m.Rows, m.Cols))
	}
	d := make([]float64, m.Rows)
	for i := range d {
		d[i] = m.Row(i)[i]
	}
	return d
}

// Len returns n.
func (g *Gram) Len() int { return len(g.diagonal) }

// Diagonal copies K(i, i) for all i into dst, which has n entries.
func (g *Gram) Diagonal(dst []float64) {
	for i, xx := range g.diagonal {
		dst[i] = g.kernel.At(xx, xx, xx)
	}
}

// Row copies K(i, j) for all j into dst, which has n entries.
func (g *Gram) Row(i int, dst []float64) {
	g.kernel.Map(dst[:g.Len()], g.dot.Row(i), g.diagonal[i], g.diagonal)
}

// Block copies K(rows[a], cols[b]) into dst, whose shape is len(rows) x len(cols).
func (g *Gram) Block(rows, cols []int, dst linalg.Matrix[float64]) {
	buffer := g.scratch.Get().(*[]float64)
	defer g.scratch.Put(buffer)
	*buffer = slices.Grow((*buffer)[:0], len(cols))
	zz := (*buffer)[:len(cols)]
	gather(zz, g.diagonal, cols)
	for a, i := range rows {
		xz := dst.Row(a)
		gather(xz, g.dot.Row(i), cols)
		g.kernel.Map(xz, xz, g.diagonal[i], zz)
	}
}

// gather sets dst[b] to row[cols[b]].
func gather[T linalg.Float](dst, row []T, cols []int) {
	for b, c := range cols {
		dst[b] = row[c]
	}
}

// Dense is a symmetric n x n kernel matrix in memory. It implements [Source]. The matrix can be a
// precomputed kernel of any origin.
type Dense struct{ K linalg.Matrix[float64] }

// Len returns n.
func (d Dense) Len() int { return d.K.Rows }

// Diagonal copies K(i, i) for all i into dst, which has n entries.
func (d Dense) Diagonal(dst []float64) { copy(dst, diagonal(d.K)) }

// Row copies K(i, j) for all j into dst, which has n entries.
func (d Dense) Row(i int, dst []float64) { copy(dst, d.K.Row(i)) }

// Block copies K(rows[a], cols[b]) into dst, whose shape is len(rows) x len(cols).
func (d Dense) Block(rows, cols []int, dst linalg.Matrix[float64]) {
	for a, i := range rows {
		gather(dst.Row(a), d.K.Row(i), cols)
	}
}

// Materialize computes the whole matrix of src on all cores. It computes each pair of rows once, except
// near the diagonal. The matrix is exactly symmetric and takes 8 n^2 bytes.
func Materialize(src Source) Dense {
	return MaterializeIn(linalg.New[float64](src.Len(), src.Len()), src)
}

// MaterializeIn is like [Materialize] but overwrites k (n x n) with the matrix. It saves the
// allocation of fresh memory, which can take more time than the computation of the kernel. The source src
// must not read k; see also [MaterializeGram]. It panics if k has another shape.
func MaterializeIn(k linalg.Matrix[float64], src Source) Dense {
	const edge = 128
	n := src.Len()
	if k.Rows != n || k.Cols != n {
		panic(fmt.Sprintf("kernel: a matrix of %d x %d for the kernel of %d rows", k.Rows, k.Cols, n))
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	linalg.For(n, edge, func(lo, hi int) {
		for j := 0; j <= lo; j += edge {
			jEnd := min(j+edge, n)
			src.Block(all[lo:hi], all[j:jEnd], linalg.Matrix[float64]{Rows: hi - lo, Cols: jEnd - j, Stride: k.Stride, Data: k.Data[lo*k.Stride+j:]})
			mirror(k, lo, hi, j, jEnd)
		}
	})
	return Dense{k}
}

// MaterializeGram is like [Materialize] of [Of], but overwrites the inner products dot with the kernel
// values.
func MaterializeGram(dot linalg.Matrix[float64], k Kernel) Dense {
	// Of has a copy of the diagonal. A tile reads only the inner products in its own place, and what
	// mirror overwrites above the diagonal is not read afterwards.
	return MaterializeIn(dot, Of(dot, k))
}

// mirror copies the values below the diagonal in a tile to their mirrored places above the
// diagonal.
func mirror(k linalg.Matrix[float64], i, iEnd, j, jEnd int) {
	for c := j; c < jEnd; c++ {
		above := k.Row(c)
		for r := max(i, c+1); r < iEnd; r++ {
			above[r] = k.Data[r*k.Stride+c]
		}
	}
}
