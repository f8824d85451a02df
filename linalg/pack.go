package linalg

import (
	"sync"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Micro-kernels read packed operands, which consist of panels. A panel has as many rows (or
// columns) as a tile and is stored column after column. The last panel is padded with zeros. The
// results of the padding are outside dst and are dropped.

// panels is an operand packed for the micro-kernels.
type panels[T Float] struct {
	width int // number of rows of a panel
	depth int // number of columns of the operand
	data  []T
}

// at returns the panel that begins with the given row.
func (p panels[T]) at(row int) []T { return p.data[row*p.depth:][:p.width*p.depth] }

// packGrain is the number of values that one core packs at a time.
const packGrain = 1 << 15

// packPanel packs columns k to kEnd-1 of m, which has at most width rows. It packs square blocks,
// or four rows at a time. If it packed eight rows column by column, and the distance of these rows
// were a power of two, the rows would leave no place in the first-level cache for the output.
func packPanel[S, T Float](to []T, m Matrix[S], width, k, kEnd int) {
	r := 0
	if doubles, ok := any(m).(Matrix[float64]); ok {
		if to, ok := any(to).([]float64); ok {
			r = packSquares(to, doubles, width, k, kEnd)
		}
	}
	for ; r+4 <= m.Rows; r += 4 {
		packFour(to[r:], width, m.Row(r)[k:kEnd], m.Row(r + 1)[k:kEnd], m.Row(r + 2)[k:kEnd], m.Row(r + 3)[k:kEnd])
	}
	for ; r < m.Rows; r++ {
		at := r
		for _, v := range m.Row(r)[k:kEnd] {
			to[at] = T(v)
			at += width
		}
	}
	for ; r < width; r++ {
		for at := r; at < len(to); at += width {
			to[at] = 0
		}
	}
}

// packFour packs the four rows r0 to r3.
func packFour[S, T Float](to []T, width int, r0, r1, r2, r3 []S) {
	r1, r2, r3 = r1[:len(r0)], r2[:len(r0)], r3[:len(r0)]
	at := 0
	for c, v := range r0 {
		four := to[at : at+4 : at+4]
		four[0], four[1], four[2], four[3] = T(v), T(r1[c]), T(r2[c]), T(r3[c])
		at += width
	}
}

// packSquares packs the rows of m that fill whole square blocks. It returns the number of these
// rows.
func packSquares(to []float64, m Matrix[float64], width, k, kEnd int) int {
	t, _ := simd.Transposers64(Paths()[0])
	square := t.Side
	rows, n := m.Rows/square*square, (kEnd-k)/square
	for r := 0; r < rows; r += square {
		t.Squares(n, to[r:], width, square*width, m.Data[r*m.Stride+k:], m.Stride, square)
		for c := k + square*n; c < kEnd; c++ {
			for i := range square {
				to[(c-k)*width+r+i] = m.Data[(r+i)*m.Stride+c]
			}
		}
	}
	return rows
}

// unpackPanel is the inverse of packPanel. It transposes square blocks with t.
func unpackPanel[T Float](m Matrix[T], from []T, width int, t simd.Transposer[float64]) {
	r := 0
	if m, ok := any(m).(Matrix[float64]); ok {
		r = unpackSquares(m, any(from).([]float64), width, t)
	}
	for ; r+4 <= m.Rows; r += 4 {
		unpackFour(from[r:], width, m.Row(r), m.Row(r+1), m.Row(r+2), m.Row(r+3))
	}
	for ; r < m.Rows; r++ {
		at, row := r, m.Row(r)
		for c := range row {
			row[c] = from[at]
			at += width
		}
	}
}

// unpackSquares unpacks the rows of m that fill whole square blocks. It returns the number of these
// rows.
func unpackSquares(m Matrix[float64], from []float64, width int, t simd.Transposer[float64]) int {
	square := t.Side
	rows, n := m.Rows/square*square, m.Cols/square
	for r := 0; r < rows; r += square {
		t.Squares(n, m.Data[r*m.Stride:], m.Stride, square, from[r:], width, square*width)
		for c := square * n; c < m.Cols; c++ {
			for i := range square {
				m.Data[(r+i)*m.Stride+c] = from[c*width+r+i]
			}
		}
	}
	return rows
}

func unpackFour[T Float](from []T, width int, r0, r1, r2, r3 []T) {
	r1, r2, r3 = r1[:len(r0)], r2[:len(r0)], r3[:len(r0)]
	at := 0
	for c := range r0 {
		four := from[at : at+4 : at+4]
		r0[c], r1[c], r2[c], r3[c] = four[0], four[1], four[2], four[3]
		at += width
	}
}

// workspace is memory, such as that for packed operands of a product.
type workspace[T Float] struct{ left, right []T }

// The workspaces of finished products are reused, because fresh memory is slow. A product reads
// only values that it has written itself, so nothing carries over.
var free64, free32 sync.Pool

func freed[T Float]() *sync.Pool {
	var zero T
	if _, single := any(zero).(float32); single {
		return &free32
	}
	return &free64
}

// take returns a workspace with at least the given numbers of values.
func take[T Float](left, right int) *workspace[T] {
	w, _ := freed[T]().Get().(*workspace[T])
	if w == nil {
		w = new(workspace[T])
	}
	if len(w.left) < left {
		w.left = make([]T, left)
		preferHugePages(w.left)
	}
	if len(w.right) < right {
		w.right = make([]T, right)
		preferHugePages(w.right)
	}
	return w
}

// leave puts the workspace into its pool for reuse.
func (w *workspace[T]) leave() { freed[T]().Put(w) }

// Scratch calls use with memory for n values, whose initial content is arbitrary. The memory is
// reused when use returns, because used memory is many times as fast as fresh memory.
func Scratch[T Float](n int, use func(room []T)) {
	w := take[T](n, 0)
	use(w.left[:n])
	w.leave()
}
