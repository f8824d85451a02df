package okra

import (
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// haar multiplies rows by one uniformly random frame of f vectors in f+k dimensions. For such a
// frame the distribution of the encoded rows depends on the rows only through their Gram matrix, so
// the encoding leaks nothing beyond the Gram matrix. The cost is about (f+k)^2 multiply-adds a row, and
// (f+k)^2/2 Gaussians for each call of Encode.
type haar struct {
	f, width int
	stream   func() *prg.Stream
}

// group is the number of reflections applied at once, as a product of matrices.
const group = 32

func (h *haar) Width() int { return h.width }

// panel returns the number of rows that are encoded together. Reflecting this number of rows costs
// about fifteen times as much as drawing the vectors.
func (h *haar) panel() int { return 256 }

func (h *haar) pieces(rows int) int {
	all := (h.f + group - 1) / group
	return (all + h.groups(rows) - 1) / h.groups(rows)
}

// groups returns the number of groups of reflections in one piece of work. For each coordinate of
// each vector, drawing takes about 12 ns and reflecting a row 0.75 ns.
func (h *haar) groups(rows int) int {
	return max(1, int(pieceTime/((12+.75*float64(rows))*group*float64(h.width))))
}

func (h *haar) Encode(dst, src linalg.Matrix[float64]) { encode(h, dst, src) }

func (h *haar) piece(dst, src linalg.Matrix[float64], i int) {
	if i == 0 {
		for j := range src.Rows {
			row := dst.Row(j)
			clear(row[copy(row, src.Row(j)):])
		}
	}
	w := newWorkspace(src.Rows, h.width)
	hi := h.f - i*h.groups(src.Rows)*group
	for end := max(0, hi-h.groups(src.Rows)*group); hi > end; hi -= group {
		h.reflect(dst, w, max(0, hi-group), hi)
	}
}

// workspace holds the buffers that one piece of the encoding needs.
type workspace struct{ vectors, turned, along, factors, change []float64 }

func newWorkspace(rows, width int) *workspace {
	return &workspace{
		vectors: make([]float64, group*width), turned: make([]float64, group*width),
		along: make([]float64, rows*group), factors: make([]float64, rows*group),
		change: make([]float64, rows*width),
	}
}

// shaped returns a rows x cols matrix that shares the first elements of data.
func shaped(data []float64, rows, cols int) linalg.Matrix[float64] {
	return linalg.Matrix[float64]{Rows: rows, Cols: cols, Stride: cols, Data: data[:rows*cols]}
}

// reflect applies one group of signs and reflections to each row of dst. A row x becomes H_lo ...
// H_{hi-1} D x, where D has the signs of coordinates lo to hi-1. The product of the reflections is
// I - V T V^T, with the vectors in the columns of V (Schreiber and Van Loan, SIAM J. Sci. Stat.
// Comput. 10(1), 1989), so a row z changes by -((z V) T^T) V^T.
func (h *haar) reflect(dst linalg.Matrix[float64], w *workspace, lo, hi int) {
	vectors := shaped(w.vectors, hi-lo, h.width-lo)
	reflections := h.drawGroup(vectors, lo)
	for i := range dst.Rows {
		for j, r := range reflections {
			dst.Row(i)[lo+j] *= r.sign
		}
	}
	active := columns(dst, lo, h.width)
	along := shaped(w.along, dst.Rows, hi-lo)
	linalg.MulTransB(along, active, vectors)
	factors := shaped(w.factors, dst.Rows, hi-lo)
	linalg.MulTransB(factors, along, triangle(vectors, reflections))
	change := shaped(w.change, dst.Rows, h.width-lo)
	linalg.MulTransB(change, factors, transpose(w.turned, vectors))
	linalg.For(dst.Rows, max(1, 1<<15/h.width), func(first, end int) {
		for i := first; i < end; i++ {
			axpy(active.Row(i), -1, change.Row(i))
		}
	})
}

// drawGroup draws one group of reflections and stores their vectors in the rows of a matrix. The
// first reflection is number lo, and the first column is coordinate lo.
func (h *haar) drawGroup(vectors linalg.Matrix[float64], lo int) []reflection {
	reflections := make([]reflection, vectors.Rows)
	linalg.For(vectors.Rows, 4, func(first, end int) {
		s := h.stream()
		for j := first; j < end; j++ {
			row := vectors.Row(j)
			clear(row[:j])
			reflections[j] = drawReflection(s, 0, lo+j, row[j:])
		}
	})
	return reflections
}

// triangle returns the upper triangular matrix T for which the product of the reflections is I - V
// T V^T. T_jj is beta_j; above it, column j is -beta_j T V^T v_j.
func triangle(vectors linalg.Matrix[float64], reflections []reflection) linalg.Matrix[float64] {
	n := len(reflections)
	inner := linalg.New[float64](n, n)
	linalg.Syrk(inner, vectors)
	t := linalg.New[float64](n, n)
	for j, r := range reflections {
		for i := range j {
			sum := 0.0
			for l := i; l < j; l++ {
				sum += t.Row(i)[l] * inner.Row(l)[j]
			}
			t.Row(i)[j] = -r.beta * sum
		}
		t.Row(j)[j] = r.beta
	}
	return t
}

// transpose stores the transpose of m in data and returns it.
func transpose(data []float64, m linalg.Matrix[float64]) linalg.Matrix[float64] {
	t := shaped(data, m.Cols, m.Rows)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			t.Data[j*t.Stride+i] = v
		}
	}
	return t
}

// columns returns columns lo to hi-1 of m. The result shares m's memory. m must have at least one
// row.
func columns[T linalg.Float](m linalg.Matrix[T], lo, hi int) linalg.Matrix[T] {
	return linalg.Matrix[T]{Rows: m.Rows, Cols: hi - lo, Stride: m.Stride,
		Data: m.Data[lo : (m.Rows-1)*m.Stride+hi]}
}
