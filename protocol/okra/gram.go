package okra

import (
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// Round 4, Receipt: the server computes the Gram matrix of the encoded rows, sends every party the
// total number of rows, and ends. A party ends only when it has the receipt, so that it destroys no
// state before the server has all rows.
const (
	roundReceipt = 4
	kindReceipt  = "Receipt"
)

func decodeReceipt(body []byte) (uint64, error) {
	r := wire.NewReader(body)
	rows := r.Uint64()
	return rows, r.Close("okra: receipt")
}

// The server computes the Gram matrix tile by tile. A tile has the products of two panels of rows
// and is summed over slices of coordinates, in order, so that a step stays near 100 ms for every
// width.
const (
	panelRows  = 512
	sliceWidth = 2048
	stepWork   = panelRows * panelRows * sliceWidth // multiply-adds of one step
)

// assembly is a linear Gram matrix under construction.
type assembly struct {
	rows  store
	width int
	gram  linalg.Matrix[float64]
	tiles []tile // the tiles not yet complete
	total int
	// products counts the computed inner products, one for each pair of rows.
	products int64
	lo       int // first coordinate not yet summed in tiles[0]
	part     []float64
}

// assemble allocates the Gram matrix and lists the tiles that the server must compute. The products
// of kept rows are copied from the base.
func (s *Server) assemble() *assembly {
	spans := []stretch{{0, s.total, true}}
	if s.base != nil {
		spans = s.stretches()
	}
	a := newAssembly(s.store, spans, s.Width())
	if s.base != nil {
		s.keepGram(a.gram)
	}
	return a
}

// stretch is a range of rows that are either all new or all kept from earlier sessions.
type stretch struct {
	lo, hi int
	fresh  bool
}

// newAssembly plans the products of new rows with all rows. The choice of tiles does not change the
// result, because each product is summed over the coordinates in the same order.
func newAssembly(s store, spans []stretch, width int) *assembly {
	var panels []stretch
	for _, p := range spans {
		for lo := p.lo; lo < p.hi; lo += panelRows {
			panels = append(panels, stretch{lo, min(lo+panelRows, p.hi), p.fresh})
		}
	}
	rows := panels[len(panels)-1].hi
	a := &assembly{rows: s, width: width, gram: linalg.New[float64](rows, rows)}
	for i, down := range panels {
		for _, across := range panels[:i+1] {
			if t := (tile{down.lo, down.hi, across.lo, across.hi}); down.fresh || across.fresh {
				a.tiles = append(a.tiles, t)
			}
		}
	}
	a.total = len(a.tiles)
	return a
}

// pairs returns the number of pairs of rows in a tile. A tile on the diagonal is symmetric, and
// each of its pairs counts once.
func (t tile) pairs() int64 {
	rows, cols := int64(t.iEnd-t.i), int64(t.jEnd-t.j)
	if t.i == t.j {
		return rows * (rows + 1) / 2
	}
	return rows * cols
}

// stretches returns the ranges of kept rows and of new rows, in the row order of the Gram matrix.
func (s *Server) stretches() (spans []stretch) {
	for _, from := range s.sources {
		for _, run := range []stretch{{from.first, from.firstNew(), false}, {from.firstNew(), from.end(), true}} {
			if run.lo < run.hi {
				spans = append(spans, run)
			}
		}
	}
	return spans
}

// keepGram copies the inner products of kept rows from the base to gram.
func (s *Server) keepGram(gram linalg.Matrix[float64]) {
	for _, down := range s.sources {
		for _, across := range s.sources {
			i, j := s.base.partOf(down.name).first, s.base.partOf(across.name).first
			for r := range down.kept {
				copy(gram.Row(down.first + r)[across.first:][:across.kept], s.base.gram.Row(i + r)[j:])
			}
		}
	}
}

// step does the next part of the Gram matrix, about stepWork multiply-adds.
func (a *assembly) step() {
	for work := 0; len(a.tiles) > 0 && work < stepWork; {
		t := a.tiles[0]
		hi := min(a.lo+sliceWidth, a.width)
		a.addSlice(t, hi)
		work += (t.iEnd - t.i) * (t.jEnd - t.j) * (hi - a.lo)
		if a.lo = hi; hi == a.width {
			a.mirror(t)
			a.products += t.pairs()
			a.tiles, a.lo = a.tiles[1:], 0
		}
	}
}

func (a *assembly) done() bool { return len(a.tiles) == 0 }

// addSlice adds one slice of coordinates to the inner products of tile t. The slice has the
// coordinates a.lo to hi-1.
func (a *assembly) addSlice(t tile, hi int) {
	dst := columns(a.gram.Panel(t.i, t.iEnd), t.j, t.jEnd)
	if a.lo == 0 {
		a.rows.gram(dst, t, 0, hi)
		return
	}
	if a.part == nil {
		a.part = make([]float64, panelRows*panelRows)
	}
	part := shaped(a.part, dst.Rows, dst.Cols)
	a.rows.gram(part, t, a.lo, hi)
	for i := range dst.Rows {
		axpy(dst.Row(i), 1, part.Row(i))
	}
}

// mirror copies the complete tile t to its transposed place across the diagonal.
func (a *assembly) mirror(t tile) {
	if t.i == t.j {
		return
	}
	for i := t.i; i < t.iEnd; i++ {
		for j, v := range a.gram.Row(i)[t.j:t.jEnd] {
			a.gram.Row(t.j + j)[i] = v
		}
	}
}

func (a *assembly) progress() protocol.Progress {
	return protocol.Progress{Stage: "gram", Done: int64(a.total - len(a.tiles)), Total: int64(a.total)}
}

// store holds encoded rows in the wire's precision and multiplies them in float64.
type store interface {
	// put decodes the numbers of a chunk and stores them in the matrix. The span s says which rows
	// of a party, and which columns, the chunk holds. The party's row 0 is the matrix's row number
	// first. If body has a wrong length, or a number is not finite or too large for any encoder,
	// put returns an error and stores nothing.
	put(s span, first int, body []byte) error
	// rows returns all stored rows.
	rows() linalg.Rows
	// copyFrom copies rows lo to hi-1 of another store into this store. Row lo becomes row number
	// start. Both stores must have the same width.
	copyFrom(start int, from store, lo, hi int)
	// write appends rows lo to hi-1, in wire format, to w.
	write(w *wire.Writer, lo, hi int)
	// gram sets dst to the inner products of tile t, summed over the coordinates lo to hi-1 only.
	gram(dst linalg.Matrix[float64], t tile, lo, hi int)
}

// tile is a part of the Gram matrix: rows i to iEnd-1, columns j to jEnd-1.
type tile struct{ i, iEnd, j, jEnd int }

func newStore(rows, width, word int) store {
	if word == 8 {
		return &table[float64]{m: linalg.New[float64](rows, width), read: (*wire.Reader).Float64s, append: (*wire.Writer).Float64s, multiply: linalg.MulTransB[float64], square: linalg.Syrk[float64]}
	}
	return &table[float32]{m: linalg.New[float32](rows, width), read: (*wire.Reader).Float32s, append: (*wire.Writer).Float32s, multiply: linalg.MulTransBWide, square: linalg.SyrkWide}
}

// table is a store that holds its numbers in type T.
type table[T linalg.Float] struct {
	m        linalg.Matrix[T]
	scratch  []T // memory for the numbers of one chunk, which put reuses
	read     func(*wire.Reader, []T)
	append   func(*wire.Writer, []T)
	multiply func(dst linalg.Matrix[float64], a, b linalg.Matrix[T])
	square   func(dst linalg.Matrix[float64], a linalg.Matrix[T])
}

func (t *table[T]) put(s span, first int, body []byte) error {
	t.scratch = slices.Grow(t.scratch[:0], s.rows*s.cols)
	numbers := t.scratch[:s.rows*s.cols]
	r := wire.NewReader(body)
	t.read(r, numbers)
	if err := r.Close("okra: rows"); err != nil {
		return err
	}
	for i, v := range numbers {
		if !(math.Abs(float64(v)) <= maxEncoded) { // not written with >, because NaN must be refused too
			return fmt.Errorf("okra: rows: row %d, coordinate %d is %v; encoded numbers are finite and at most 1e19", s.row+i/s.cols, s.col+i%s.cols, v)
		}
	}
	for i := range s.rows {
		copy(t.m.Row(first + s.row + i)[s.col:], numbers[i*s.cols:(i+1)*s.cols])
	}
	return nil
}

func (t *table[T]) rows() linalg.Rows { return t.m }

func (t *table[T]) copyFrom(start int, from store, lo, hi int) {
	for i := lo; i < hi; i++ {
		copy(t.m.Row(start+i-lo), from.(*table[T]).m.Row(i))
	}
}

func (t *table[T]) write(w *wire.Writer, lo, hi int) {
	for i := lo; i < hi; i++ {
		t.append(w, t.m.Row(i))
	}
}

func (t *table[T]) gram(dst linalg.Matrix[float64], at tile, lo, hi int) {
	a := columns(t.m.Panel(at.i, at.iEnd), lo, hi)
	if at.i == at.j {
		t.square(dst, a)
		return
	}
	t.multiply(dst, a, columns(t.m.Panel(at.j, at.jEnd), lo, hi))
}
