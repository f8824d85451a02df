package moments

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// One is how a feature of 1 is written. Products of two are below 2^53 in sums
// over MaxRows rows, so that float64 adds them without rounding.
const One = 1 << 16

// MaxRows is the most rows that are summed up at one place; OuterBound and
// CrossBound are the largest entries that such sums can have.
const (
	MaxRows    = 1 << 20
	OuterBound = MaxRows * One * One
	CrossBound = MaxRows * One
)

// Sums are moments over some rows in whole numbers.
type Sums struct {
	Outer linalg.Matrix[float64] // A One^2: features x features, symmetric
	Cross linalg.Matrix[float64] // B One, transposed: classes x features
	Rows  int
}

// NewSums returns the sums over no rows.
func NewSums(features, classes int) *Sums {
	return &Sums{Outer: linalg.New[float64](features, features), Cross: linalg.New[float64](classes, features)}
}

// panelRows is how many rows' features are held at a time.
const panelRows = 2048

// Summarize sums the moments of rows, whose classes are given as numbers from 0
// to classes-1.
func Summarize(m feature.Map, rows linalg.Rows, codes []int, classes int) (*Sums, error) {
	n, width := rows.Shape()
	switch {
	case n > MaxRows:
		return nil, fmt.Errorf("moments: %d rows; at most %d can be summed up at one place", n, MaxRows)
	case len(codes) != n || width != m.Width():
		return nil, fmt.Errorf("moments: %d x %d rows, %d classes of rows, features of %d columns", n, width, len(codes), m.Width())
	}
	s := NewSums(m.Len(), classes)
	outer, cross := linalg.New[float64](m.Len(), m.Len()), linalg.New[float64](classes, m.Len())
	for lo := 0; lo < n; lo += panelRows {
		hi := min(lo+panelRows, n)
		phi := rounded(m, rows, lo, hi)
		linalg.Syrk(outer, phi)
		linalg.MulTransB(cross, targets(codes[lo:hi], classes), phi)
		addTo(s.Outer, outer)
		addTo(s.Cross, cross)
	}
	s.Rows = n
	return s, s.finite()
}

// finite finds features that are no numbers, which would be written as some
// whole number.
func (s *Sums) finite() error {
	for i := range s.Outer.Rows {
		if math.IsNaN(s.Outer.Row(i)[i]) {
			return errors.New("moments: a row has values too large for features; scale the columns")
		}
	}
	return nil
}

// rounded is the features of some rows in multiples of 1/One, features x rows.
func rounded(m feature.Map, rows linalg.Rows, lo, hi int) linalg.Matrix[float64] {
	x := linalg.New[float64](hi-lo, m.Width())
	linalg.Gather(x, rows, lo)
	phi := linalg.New[float64](m.Len(), hi-lo)
	m.Columns(phi, x)
	linalg.For(phi.Rows, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := phi.Row(i)
			for j, v := range row {
				row[j] = math.RoundToEven(v * One)
			}
		}
	})
	return phi
}

// targets are +1 for a row's class and -1 for the others: classes x rows.
func targets(codes []int, classes int) linalg.Matrix[float64] {
	y := linalg.New[float64](classes, len(codes))
	for i, code := range codes {
		for c := range classes {
			y.Row(c)[i] = -1
		}
		y.Row(code)[i] = 1
	}
	return y
}

func addTo(sum, m linalg.Matrix[float64]) {
	linalg.For(sum.Rows, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			to := sum.Row(i)
			for j, v := range m.Row(i) {
				to[j] += v
			}
		}
	})
}

// Triangle is the number of entries of A that tell all of it.
func Triangle(features int) int { return features * (features + 1) / 2 }

// rowStart is where row i of the upper triangle begins.
func rowStart(features, i int) int { return i*features - i*(i-1)/2 }

// ReadOuter sets dst to entries of the upper triangle of A, row after row, from
// first on.
func (s *Sums) ReadOuter(first int, dst []int64) {
	m := s.Outer.Rows
	i := sort.Search(m, func(i int) bool { return rowStart(m, i+1) > first })
	for len(dst) > 0 {
		from := s.Outer.Row(i)[i+first-rowStart(m, i):]
		n := min(len(from), len(dst))
		for k, v := range from[:n] {
			dst[k] = int64(v)
		}
		dst, first, i = dst[n:], first+n, i+1
	}
}

// ReadCross sets dst to entries of B, class after class, from first on.
func (s *Sums) ReadCross(first int, dst []int64) {
	for k, v := range s.Cross.Data[first : first+len(dst)] {
		dst[k] = int64(v)
	}
}

// FromEntries returns the sums whose entries are what ReadOuter and ReadCross
// read. Sums of more than 2^20 rows are rounded to float64.
func FromEntries(features, classes int, outer, cross []int64, rows int) (*Sums, error) {
	if len(outer) != Triangle(features) || len(cross) != classes*features || rows < 1 {
		return nil, fmt.Errorf("moments: %d and %d sums of %d rows for %d features and %d classes", len(outer), len(cross), rows, features, classes)
	}
	s := NewSums(features, classes)
	for i := range features {
		for j := i; j < features; j++ {
			v := float64(outer[rowStart(features, i)+j-i])
			s.Outer.Row(i)[j], s.Outer.Row(j)[i] = v, v
		}
	}
	for k, v := range cross {
		s.Cross.Data[k] = float64(v)
	}
	s.Rows = rows
	return s, nil
}
