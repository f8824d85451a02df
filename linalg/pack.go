package linalg

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// blasRows is how many rows of a tile go to BLAS at once: with more, gonum
// would start goroutines of its own, whose panics nobody could recover.
const blasRows = 64

// pack is what one core needs to compute tiles: the operands of one partial
// sum in the precision and order in which they are read, and the sum itself.
type pack[S, T Float] struct {
	left  []T // rows of a x depth, used only when S is not T
	right []T // depth x rows of b: b transposed
	sum   []T // rows of a x rows of b
}

// packs hands packs out and takes them back, because fresh memory is slow.
type packs[S, T Float] struct{ pool sync.Pool }

// newPacks makes packs for tiles of at most rows x cols and k columns.
func newPacks[S, T Float](rows, cols, k int) *packs[S, T] {
	k = min(k, depth)
	return &packs[S, T]{sync.Pool{New: func() any {
		p := &pack[S, T]{right: make([]T, k*cols), sum: make([]T, rows*cols)}
		if _, same := any(p.left).([]S); !same {
			p.left = make([]T, rows*k)
		}
		return p
	}}}
}

func (p *packs[S, T]) get() *pack[S, T]  { return p.pool.Get().(*pack[S, T]) }
func (p *packs[S, T]) put(x *pack[S, T]) { p.pool.Put(x) }

// product sets the tile t of dst to the inner products of a's and b's rows.
func (p *pack[S, T]) product(dst Matrix[T], a, b Matrix[S], t tile) {
	cols := t.jEnd - t.j
	for i := t.i; i < t.iEnd; i++ {
		clear(dst.Row(i)[t.j:t.jEnd])
	}
	for k := 0; k < a.Cols; k += depth {
		kEnd := min(k+depth, a.Cols)
		p.transpose(b, t.j, t.jEnd, k, kEnd)
		left, stride := p.rows(a, t.i, t.iEnd, k, kEnd)
		for i := t.i; i < t.iEnd; i += blasRows {
			rows := min(blasRows, t.iEnd-i)
			gemm(rows, cols, kEnd-k, left[(i-t.i)*stride:], stride, p.right, p.sum[(i-t.i)*cols:])
		}
		for i := t.i; i < t.iEnd; i++ {
			row := dst.Row(i)[t.j:t.jEnd]
			for j, v := range p.sum[(i-t.i)*cols:][:len(row)] {
				row[j] += v
			}
		}
	}
}

// rows returns rows i to iEnd-1, columns k to kEnd-1 of a in precision T, and
// their stride: a's own memory where it can be read as it is.
func (p *pack[S, T]) rows(a Matrix[S], i, iEnd, k, kEnd int) ([]T, int) {
	if same, ok := any(a.Data[i*a.Stride+k:]).([]T); ok {
		return same, a.Stride
	}
	n := kEnd - k
	for r := i; r < iEnd; r++ {
		to := p.left[(r-i)*n:][:n]
		for c, v := range a.Row(r)[k:kEnd] {
			to[c] = T(v)
		}
	}
	return p.left, n
}

// transpose writes rows j to jEnd-1, columns k to kEnd-1 of b into right, one
// column of b after the other. It goes by bands of rows, so that what it
// writes to stays in the first-level cache.
func (p *pack[S, T]) transpose(b Matrix[S], j, jEnd, k, kEnd int) {
	const band = 8
	cols := jEnd - j
	for lo := j; lo < jEnd; lo += band {
		for r := lo; r < min(lo+band, jEnd); r++ {
			to := r - j
			for _, v := range b.Row(r)[k:kEnd] {
				p.right[to] = T(v)
				to += cols
			}
		}
	}
}

// gemm sets sum to the product of left (m x k) and right (k x n), adding from
// left to right. It is the place for assembly.
func gemm[T Float](m, n, k int, left []T, stride int, right, sum []T) {
	var impl gonum.Implementation
	switch left := any(left).(type) {
	case []float64:
		impl.Dgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, left, stride, any(right).([]float64), n, 0, any(sum).([]float64), n)
	case []float32:
		impl.Sgemm(blas.NoTrans, blas.NoTrans, m, n, k, 1, left, stride, any(right).([]float32), n, 0, any(sum).([]float32), n)
	}
}
