package linear

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
)

// Table holds the features of rows, or computes them when they are read. Several goroutines call Read
// at the same time.
type Table[T linalg.Float] interface {
	Rows() int
	Features() int
	// Read sets row j of dst to the values of feature number feature+j on consecutive rows, one row
	// for each column of dst. Column 0 belongs to row number row.
	Read(dst linalg.Matrix[T], feature, row int)
}

// Dense is a [Table] whose features are stored in a matrix, features x rows.
type Dense[T linalg.Float] struct{ M linalg.Matrix[T] }

// Rows returns the number of rows.
func (d Dense[T]) Rows() int { return d.M.Cols }

// Features returns the number of features.
func (d Dense[T]) Features() int { return d.M.Rows }

// Read copies features of consecutive rows to dst.
func (d Dense[T]) Read(dst linalg.Matrix[T], feature, row int) {
	for j := range dst.Rows {
		copy(dst.Row(j), d.M.Row(feature + j)[row:])
	}
}

// span is a range of consecutive rows or features.
type span struct{ lo, hi int }

func (s span) len() int { return s.hi - s.lo }

// spans cuts n into ranges of the given length. The last range can be shorter.
func spans(n, length int) []span {
	var out []span
	for lo := 0; lo < n; lo += length {
		out = append(out, span{lo, min(lo+length, n)})
	}
	return out
}

// read passes the features of some rows to the function use, as features x rows.
func read[T linalg.Float](t Table[T], features, rows span, use func(z linalg.Matrix[T])) {
	linalg.Scratch(features.len()*rows.len(), func(room []T) {
		z := linalg.Matrix[T]{Rows: features.len(), Cols: rows.len(), Stride: rows.len(), Data: room}
		t.Read(z, features.lo, rows.lo)
		use(z)
	})
}

// Decide returns the decisions for all rows, as outputs x rows. The coefficients are outputs x
// features. Decide panics on another number of features.
func Decide[T linalg.Float](t Table[T], coefficients linalg.Matrix[float64]) linalg.Matrix[float64] {
	if coefficients.Cols != t.Features() {
		panic(fmt.Sprintf("linear: %d coefficients for %d features", coefficients.Cols, t.Features()))
	}
	u := linalg.New[float64](coefficients.Rows, t.Rows())
	panels, blocks := spans(t.Rows(), panelRows), spans(t.Features(), DefaultBlock)
	linalg.For(len(panels), 1, func(i, _ int) {
		for _, b := range blocks {
			read(t, b, panels[i], func(z linalg.Matrix[T]) { addTo(u, panels[i], z, coefficients, b) })
		}
	})
	return u
}

// addTo adds the contribution of the features z to the decisions for some rows.
func addTo[T linalg.Float](u linalg.Matrix[float64], rows span, z linalg.Matrix[T], coefficients linalg.Matrix[float64], features span) {
	sum := make([]T, rows.len())
	for k := range u.Rows {
		clear(sum)
		for j, w := range coefficients.Row(k)[features.lo:features.hi] {
			linalg.Axpy(T(w), z.Row(j), sum)
		}
		for i, v := range sum {
			u.Row(k)[rows.lo+i] += float64(v)
		}
	}
}
