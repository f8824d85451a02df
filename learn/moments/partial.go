package moments

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// Partial holds the moments of some rows as exact integers. The partial sums of parts of a table,
// added in any order, equal the sums of the whole table, number for number.
type Partial struct {
	Features, Targets int
	// Outer is the upper triangle of A times One^2, row after row. Cross is B times One^2, as targets
	// x features.
	Outer, Cross []int64
	Rows         int
	// Total and Power are the sums of y and of y^2, times One^2, where y is the number of [Numbers].
	// With other targets they are 0.
	Total, Power int64
}

// NewPartial returns sums over an empty set of rows.
func NewPartial(features, targets int) *Partial {
	return &Partial{Features: features, Targets: targets, Outer: make([]int64, Triangle(features)), Cross: make([]int64, targets*features)}
}

// Merge adds the sums of other rows. It refuses sums of another shape, and more than [MaxRows] rows
// together.
func (p *Partial) Merge(o *Partial) error {
	switch {
	case o.Features != p.Features || o.Targets != p.Targets || len(o.Outer) != len(p.Outer) || len(o.Cross) != len(p.Cross):
		return fmt.Errorf("moments: sums of %d features and %d targets cannot be added to sums of %d features and %d targets", o.Features, o.Targets, p.Features, p.Targets)
	case o.Rows < 0 || o.Rows > MaxRows-p.Rows:
		return tooManyRows(p.Rows, o.Rows)
	}
	for i, v := range o.Outer {
		p.Outer[i] += v
	}
	for i, v := range o.Cross {
		p.Cross[i] += v
	}
	p.Rows, p.Total, p.Power = p.Rows+o.Rows, p.Total+o.Total, p.Power+o.Power
	return nil
}

func tooManyRows(have, more int) error {
	return fmt.Errorf("moments: there are %d rows; at most %d are allowed", have+more, MaxRows)
}

// Sums returns the sums for learning.
func (p *Partial) Sums() *Sums {
	s := &Sums{Outer: Symmetric(p.Features, p.Outer), Cross: linalg.New[float64](p.Targets, p.Features), Rows: p.Rows, Total: float64(p.Total), Power: float64(p.Power)}
	for k, v := range p.Cross {
		s.Cross.Data[k] = float64(v)
	}
	return s
}

// MaxBlock is the number of rows whose features are held at a time. The float64 sums over so many
// rows are whole numbers below 2^53, and so exact.
const MaxBlock = 2048

// Accumulator adds up the moments of rows that come in blocks. Its memory does not grow with the
// rows: for M features and t targets it is 12 M^2 + 8 M (2 t + 2048) bytes, and a block of rows.
type Accumulator struct {
	*Partial
	of           feature.Mapping
	x, phi, y    []float64 // buffers of a block
	outer, cross linalg.Matrix[float64]
}

// NewAccumulator returns an accumulator of the given features and number of targets.
func NewAccumulator(m feature.Mapping, targets int) *Accumulator {
	return &Accumulator{
		Partial: NewPartial(m.Len(), targets), of: m,
		outer: linalg.New[float64](m.Len(), m.Len()), cross: linalg.New[float64](targets, m.Len()),
	}
}

// Add adds the moments of rows and their targets. How the rows are divided into calls of Add does
// not change the sums. After an error the sums are undefined.
func (a *Accumulator) Add(rows linalg.Rows, y Targets) error {
	n, width := rows.Shape()
	labelled, targets := y.Shape()
	switch {
	case n > MaxRows-a.Rows:
		return tooManyRows(a.Rows, n)
	case labelled != n || width != a.of.Width() || targets != a.Targets:
		return fmt.Errorf("moments: there are %d x %d rows, %d targets for %d rows and features of %d columns and %d targets; the numbers of rows, of columns and of targets must be equal", n, width, targets, labelled, a.of.Width(), a.Targets)
	}
	for lo := 0; lo < n; lo += MaxBlock {
		if err := a.addBlock(rows, y, lo, min(lo+MaxBlock, n)); err != nil {
			return err
		}
	}
	return nil
}

// addBlock adds at most MaxBlock rows.
func (a *Accumulator) addBlock(rows linalg.Rows, y Targets, lo, hi int) error {
	n := hi - lo
	x, phi, t := reshape(&a.x, n, a.of.Width()), reshape(&a.phi, a.Features, n), reshape(&a.y, a.Targets, n)
	linalg.Gather(x, rows, lo)
	a.of.Columns(phi, x)
	round(phi)
	y.Columns(t, lo)
	for i, v := range t.Data {
		t.Data[i] = math.RoundToEven(v * One)
	}
	linalg.Syrk(a.outer, phi)
	linalg.MulTransB(a.cross, t, phi)
	if !a.finite() {
		return errors.New("moments: a row has values too large for features; scale the columns")
	}
	a.take()
	a.Rows += n
	if y, ok := y.(Numbers); ok {
		total, power := y.sums(lo, hi)
		a.Total, a.Power = a.Total+total, a.Power+power
	}
	return nil
}

// take adds the block's sums to the total.
func (a *Accumulator) take() {
	linalg.Each(a.Features, 64, func(i int) {
		to := a.Outer[rowStart(a.Features, i):rowStart(a.Features, i+1)]
		for j, v := range a.outer.Row(i)[i:] {
			to[j] += int64(v)
		}
	})
	for k, v := range a.cross.Data {
		a.Cross[k] += int64(v)
	}
}

// finite reports whether all features of the block are finite. A feature that is not would become an
// arbitrary integer.
func (a *Accumulator) finite() bool {
	for i := range a.Features {
		if math.IsNaN(a.outer.Row(i)[i]) {
			return false
		}
	}
	return true
}

// reshape returns a matrix in the memory of a buffer, which it enlarges if necessary.
func reshape(buffer *[]float64, rows, cols int) linalg.Matrix[float64] {
	*buffer = slices.Grow((*buffer)[:0], rows*cols)[:rows*cols]
	return linalg.Matrix[float64]{Rows: rows, Cols: cols, Stride: cols, Data: *buffer}
}

// shift is 1.5 times 2^52. Between 2^52 and 2^53 neighbouring float64 are 1 apart, so the addition of
// shift to a number of less than 2^51 in magnitude rounds it to the nearest integer, to even if two
// are as near. Its subtraction is exact. That is the result of math.RoundToEven, except that -0
// becomes 0, which changes no sum; it takes two additions in place of a call or a branch. Features
// are at most 1 in magnitude, times One they are far below 2^51, and the product with a power of two
// is exact, so that a fused multiply-add gives the same bits.
const shift = 3 << 51

// round replaces each feature by the nearest integer multiple of 1/One.
func round(m linalg.Matrix[float64]) {
	linalg.Each(m.Rows, 16, func(i int) {
		row := m.Row(i)
		for j, v := range row {
			row[j] = (v*One + shift) - shift
		}
	})
}
