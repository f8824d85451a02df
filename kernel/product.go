package kernel

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
)

// panelBytes is the maximum memory for the float64 rows that are read of one operand of a product. A row
// that is larger is held alone.
const panelBytes = 256 << 20

// LinearGram returns the inner products of all pairs of rows of x (n x f). The result is n x n,
// exactly symmetric, and summed in float64. If x is not a matrix, LinearGram holds two panels of x
// in float64, of at most 256 MiB each. The result has the same bits.
func LinearGram(x linalg.Rows) linalg.Matrix[float64] {
	n, _ := x.Shape()
	g := linalg.New[float64](n, n)
	switch m := x.(type) {
	case linalg.Matrix[float64]:
		linalg.Syrk(g, m)
	case linalg.Matrix[float32]:
		linalg.SyrkWide(g, m)
	default:
		gramOfPanels(g, x, panelBytes)
	}
	return g
}

// gramOfPanels computes g panel by panel. A panel has at most the given bytes.
func gramOfPanels(g linalg.Matrix[float64], x linalg.Rows, bytes int) {
	left, right := newPanels(x, bytes), newPanels(x, bytes)
	for i := 0; i < g.Rows; i += left.size {
		a := left.read(i)
		for j := 0; j < i; j += right.size {
			b := right.read(j)
			linalg.MulTransB(part(g, i, a.Rows, j, b.Rows), a, b)
			linalg.For(b.Rows, mapRows, func(lo, hi int) { mirror(g, i, i+a.Rows, j+lo, j+hi) })
		}
		linalg.Syrk(part(g, i, a.Rows, i, a.Rows), a)
	}
}

// CrossGram returns the inner products of the rows of a (m x f) with the rows of b (n x f), an m x
// n matrix. An operand that is not a matrix of float64 is read in panels of at most 256 MiB. CrossGram
// panics if the widths differ.
func CrossGram(a, b linalg.Rows) linalg.Matrix[float64] {
	m, _ := a.Shape()
	n, _ := b.Shape()
	g := linalg.New[float64](m, n)
	crossOfPanels(g, newPanels(a, panelBytes), newPanels(b, panelBytes))
	return g
}

func crossOfPanels(g linalg.Matrix[float64], left, right *panels) {
	for i := 0; i < g.Rows; i += left.size {
		a := left.read(i)
		for j := 0; j < g.Cols; j += right.size {
			b := right.read(j)
			linalg.MulTransB(part(g, i, a.Rows, j, b.Rows), a, b)
		}
	}
}

// part returns the block of m that begins at row i and column j. The block shares m's memory.
func part(m linalg.Matrix[float64], i, rows, j, cols int) linalg.Matrix[float64] {
	return linalg.Matrix[float64]{Rows: rows, Cols: cols, Stride: m.Stride, Data: m.Data[i*m.Stride+j:]}
}

// panels reads rows in float64, one panel of rows at a time.
type panels struct {
	from linalg.Rows
	rows int
	size int                    // number of rows of a panel; the last panel can have fewer
	room linalg.Matrix[float64] // memory for one panel; if from is a matrix of float64, this is the matrix itself
	held int                    // first row of the current panel; -1 if there is none
}

func newPanels(x linalg.Rows, bytes int) *panels {
	rows, cols := x.Shape()
	p := &panels{from: x, rows: rows, size: max(1, rows), held: -1}
	if m, ok := x.(linalg.Matrix[float64]); ok {
		p.room, p.held = m, 0
		return p
	}
	p.size = min(p.size, max(1, bytes/(8*max(1, cols))))
	p.room = linalg.New[float64](min(rows, p.size), cols)
	return p
}

// read returns the panel that begins with row start. It is valid until the next call.
func (p *panels) read(start int) linalg.Matrix[float64] {
	panel := p.room.Panel(0, min(p.size, p.rows-start))
	if p.held != start {
		linalg.Gather(panel, p.from, start)
		p.held = start
	}
	return panel
}

// SquaredNorms returns the inner product of each row of x with itself. The values equal, bit for
// bit, the diagonal of the linear Gram matrix (summed in float64).
func SquaredNorms(x linalg.Rows) []float64 {
	n, _ := x.Shape()
	norms := make([]float64, n)
	if m, ok := x.(linalg.Matrix[float32]); ok {
		linalg.SquaredNorms(norms, m)
		return norms
	}
	p := newPanels(x, normBytes)
	for i := 0; i < n; i += p.size {
		panel := p.read(i)
		linalg.SquaredNorms(norms[i:i+panel.Rows], panel)
	}
	return norms
}

// normBytes is the size of a panel for squared norms, which are computed for four rows at a time.
const normBytes = 16 << 20

// mapRows is the number of rows that one core maps at a time.
const mapRows = 16

// Cross turns inner products into kernel values, in place and on all cores. xz (m x n) holds the
// inner products of m left rows and n right rows. xx holds the squared norms of the left rows, and
// zz the squared norms of the right rows. Cross panics on other lengths.
func Cross(k Kernel, xz linalg.Matrix[float64], xx, zz []float64) {
	if len(xx) != xz.Rows || len(zz) != xz.Cols {
		panic(fmt.Sprintf("kernel: %d and %d squared norms for %d x %d inner products", len(xx), len(zz), xz.Rows, xz.Cols))
	}
	linalg.Each(xz.Rows, mapRows, func(i int) {
		k.Map(xz.Row(i), xz.Row(i), xx[i], zz)
	})
}

// Normalize divides K(i, j) by sqrt(K(i, i) K(j, j)) in place, which maps the rows onto the unit
// sphere of the feature space. k is n x n. To normalise values of new rows, call [Cross] with the
// cosine kernel and, as xx and zz, the kernel values of each row with itself.
func Normalize(k linalg.Matrix[float64]) {
	d := diagonal(k)
	Cross(pointwise{"cosine", cosine}, k, d, d)
}
