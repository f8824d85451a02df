package okra

import (
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
)

// store holds encoded rows in the precision of the wire and multiplies them in
// float64.
type store interface {
	// put copies the numbers of a chunk's body to s, moved down by first rows.
	// It refuses numbers that no encoder makes, and then writes nothing.
	put(s span, first int, body []byte) error
	// rows returns all rows.
	rows() linalg.Rows
	// take copies rows lo to hi-1 of another store of the same shape to row at and on.
	take(at int, from store, lo, hi int)
	// write appends rows lo to hi-1 to w, as they travel.
	write(w *wire.Writer, lo, hi int)
	// gram sets dst to the inner products of rows i to iEnd-1 with rows j to
	// jEnd-1 over the coordinates from lo to hi-1.
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

// table is a store of numbers T.
type table[T linalg.Float] struct {
	m        linalg.Matrix[T]
	scratch  []T // of the chunk that put reads, reused
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
		if !(math.Abs(float64(v)) <= maxEncoded) { // false for NaN
			return fmt.Errorf("okra: rows: row %d, coordinate %d: %v", s.row+i/s.cols, s.col+i%s.cols, v)
		}
	}
	for i := range s.rows {
		copy(t.m.Row(first + s.row + i)[s.col:], numbers[i*s.cols:(i+1)*s.cols])
	}
	return nil
}

func (t *table[T]) rows() linalg.Rows { return t.m }

func (t *table[T]) take(at int, from store, lo, hi int) {
	for i := lo; i < hi; i++ {
		copy(t.m.Row(at+i-lo), from.(*table[T]).m.Row(i))
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
