package linalg

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Float lists the types that a matrix's numbers can have.
type Float interface{ float32 | float64 }

// Matrix is a dense row-major matrix. Element (i, j) is Data[i*Stride+j].
type Matrix[T Float] struct {
	Rows, Cols, Stride int
	Data               []T
}

// New returns a zero matrix of r rows and c columns.
func New[T Float](r, c int) Matrix[T] {
	return Matrix[T]{Rows: r, Cols: c, Stride: c, Data: make([]T, r*c)}
}

// Row returns row i of m. It shares m's memory.
func (m Matrix[T]) Row(i int) []T { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

// Column returns a copy of column c.
func (m Matrix[T]) Column(c int) []T {
	out := make([]T, m.Rows)
	for i := range out {
		out[i] = m.Row(i)[c]
	}
	return out
}

// Panel returns rows lo to hi-1 of m as a matrix that shares m's memory.
func (m Matrix[T]) Panel(lo, hi int) Matrix[T] {
	if lo == hi {
		return Matrix[T]{Cols: m.Cols, Stride: m.Stride}
	}
	return Matrix[T]{Rows: hi - lo, Cols: m.Cols, Stride: m.Stride, Data: m.Data[lo*m.Stride : (hi-1)*m.Stride+m.Cols]}
}

// Rows is a table of numbers whose rows are read one at a time. It can be a [Matrix], a table in
// another precision, a selection of another table's rows, or rows that are scaled as they are read.
// Most computations that take Rows hold only a part of the rows in float64. Rows are safe for concurrent
// use.
type Rows interface {
	// Shape returns the number of rows and of columns.
	Shape() (rows, cols int)
	// ReadRow writes row i to dst, which has one entry for each column.
	ReadRow(i int, dst []float64)
}

// Shape returns the number of rows and of columns.
func (m Matrix[T]) Shape() (rows, cols int) { return m.Rows, m.Cols }

// ReadRow writes row i in float64 to dst, which has one entry for each column.
func (m Matrix[T]) ReadRow(i int, dst []float64) { Widen(dst, m.Row(i)) }

// Widen copies the numbers of src to dst, which must have the same length.
func Widen[T Float](dst []float64, src []T) {
	if same, ok := any(src).([]float64); ok {
		copy(dst, same)
		return
	}
	dst = dst[:len(src)]
	for j, v := range src {
		dst[j] = float64(v)
	}
}

// Gather fills dst with consecutive rows of src, beginning with row number start. It runs on all
// cores.
func Gather(dst Matrix[float64], src Rows, start int) {
	const grain = 1 << 16 // numbers that one core reads at a time
	For(dst.Rows, max(1, grain/max(1, dst.Cols)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			src.ReadRow(start+i, dst.Row(i))
		}
	})
}

// Pick returns the given rows of src, in the given order, without copying them. The result keeps
// the slice index.
func Pick(src Rows, index []int) Rows { return picked{src, index} }

type picked struct {
	from  Rows
	index []int
}

func (p picked) Shape() (rows, cols int) {
	_, cols = p.from.Shape()
	return len(p.index), cols
}

func (p picked) ReadRow(i int, dst []float64) { p.from.ReadRow(p.index[i], dst) }

// SquaredNorms sets dst[i] to the inner product of row i of a with itself. The values equal, bit
// for bit, the diagonal that Syrk (SyrkWide for float32) computes. It panics unless dst has one
// value for each row of a.
func SquaredNorms[T Float](dst []float64, a Matrix[T]) { squaredNorms(best[float64](), dst, a) }

func squaredNorms[T Float](m simd.Micro[float64], dst []float64, a Matrix[T]) {
	if len(dst) != a.Rows {
		panic(fmt.Sprintf("linalg: %d squared norms of %d rows", len(dst), a.Rows))
	}
	four := fourSquares[T]
	if m.Fused {
		four = fourSquaresFused[T]
	}
	clear(dst)
	For((a.Rows+3)/4, max(1, 1<<12/max(1, a.Cols)), func(lo, hi int) {
		for i := 4 * lo; i < min(4*hi, a.Rows); i += 4 {
			last := a.Rows - 1 // the last row replaces missing rows, and the results are dropped
			r0, r1, r2, r3 := a.Row(i), a.Row(min(i+1, last)), a.Row(min(i+2, last)), a.Row(min(i+3, last))
			for k := 0; k < a.Cols; k += depth {
				kEnd := min(k+depth, a.Cols)
				s := four(r0[k:kEnd], r1[k:kEnd], r2[k:kEnd], r3[k:kEnd])
				for r := range dst[i:min(i+4, a.Rows)] {
					dst[i+r] += s[r]
				}
			}
		}
	})
}

// fourSquares returns the squared norms of four rows. It adds in four independent chains.
func fourSquares[T Float](r0, r1, r2, r3 []T) (s [4]float64) {
	r1, r2, r3 = r1[:len(r0)], r2[:len(r0)], r3[:len(r0)]
	var s0, s1, s2, s3 float64
	for k, v := range r0 {
		v0, v1, v2, v3 := float64(v), float64(r1[k]), float64(r2[k]), float64(r3[k])
		s0, s1, s2, s3 = s0+float64(v0*v0), s1+float64(v1*v1), s2+float64(v2*v2), s3+float64(v3*v3)
	}
	return [4]float64{s0, s1, s2, s3}
}

// fourSquaresFused is like fourSquares, but fuses each multiplication with its addition as the
// vector kernels do.
func fourSquaresFused[T Float](r0, r1, r2, r3 []T) (s [4]float64) {
	r1, r2, r3 = r1[:len(r0)], r2[:len(r0)], r3[:len(r0)]
	var s0, s1, s2, s3 float64
	for k, v := range r0 {
		v0, v1, v2, v3 := float64(v), float64(r1[k]), float64(r2[k]), float64(r3[k])
		s0, s1, s2, s3 = math.FMA(v0, v0, s0), math.FMA(v1, v1, s1), math.FMA(v2, v2, s2), math.FMA(v3, v3, s3)
	}
	return [4]float64{s0, s1, s2, s3}
}
