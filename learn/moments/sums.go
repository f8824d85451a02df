package moments

import (
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// One is the integer that represents the value 1 of a feature or a target. A sum over MaxRows rows
// of products of two such integers is below 2^53, so float64 computes it without rounding.
const One = 1 << 16

// MaxRows is the greatest number of rows that [Summarize] accepts. Bound is the largest possible
// entry of the sums over so many rows.
const (
	MaxRows = 1 << 20
	Bound   = MaxRows * One * One
)

// Sums holds the moments of some rows as integers.
type Sums struct {
	Outer linalg.Matrix[float64] // matrix A times One^2, features x features, symmetric
	Cross linalg.Matrix[float64] // matrix B times One^2, transposed to targets x features
	Rows  int
	// Total and Power are the sums of y and of y^2, times One^2, where y is the number to predict.
	// Without such a number they are 0.
	Total, Power float64
}

// NewSums returns sums over an empty set of rows.
func NewSums(features, targets int) *Sums {
	return &Sums{Outer: linalg.New[float64](features, features), Cross: linalg.New[float64](targets, features)}
}

// panelRows is the number of rows whose features are held at a time.
const panelRows = 2048

// Summarize returns the moments of the given rows and their targets.
func Summarize(m feature.Map, rows linalg.Rows, y Targets) (*Sums, error) {
	n, width := rows.Shape()
	labelled, targets := y.Shape()
	switch {
	case n > MaxRows:
		return nil, fmt.Errorf("moments: there are %d rows; at most %d are allowed", n, MaxRows)
	case labelled != n || width != m.Width():
		return nil, fmt.Errorf("moments: there are %d x %d rows, targets for %d rows and features of %d columns; both numbers of rows must be equal, and both numbers of columns", n, width, labelled, m.Width())
	}
	s := NewSums(m.Len(), targets)
	outer, cross := linalg.New[float64](m.Len(), m.Len()), linalg.New[float64](targets, m.Len())
	for lo := 0; lo < n; lo += panelRows {
		hi := min(lo+panelRows, n)
		phi, t := roundedFeatures(m, rows, lo, hi), linalg.New[float64](targets, hi-lo)
		y.Columns(t, lo)
		round(t)
		linalg.Syrk(outer, phi)
		linalg.MulTransB(cross, t, phi)
		addTo(s.Outer, outer)
		addTo(s.Cross, cross)
	}
	s.Rows = n
	if y, ok := y.(Numbers); ok {
		s.Total, s.Power = y.sums()
	}
	return s, s.finite()
}

// finite returns an error if a feature is not finite. Such a feature would be rounded to an
// arbitrary integer.
func (s *Sums) finite() error {
	for i := range s.Outer.Rows {
		if math.IsNaN(s.Outer.Row(i)[i]) {
			return errors.New("moments: a row has values too large for features; scale the columns")
		}
	}
	return nil
}

// roundedFeatures returns the rounded features of some rows, as features x rows.
func roundedFeatures(m feature.Map, rows linalg.Rows, lo, hi int) linalg.Matrix[float64] {
	x := linalg.New[float64](hi-lo, m.Width())
	linalg.Gather(x, rows, lo)
	phi := linalg.New[float64](m.Len(), hi-lo)
	m.Columns(phi, x)
	round(phi)
	return phi
}

// round replaces each number by the nearest integer multiple of 1/One.
func round(m linalg.Matrix[float64]) {
	linalg.Each(m.Rows, 16, func(i int) {
		row := m.Row(i)
		for j, v := range row {
			row[j] = math.RoundToEven(v * One)
		}
	})
}

func addTo(sum, m linalg.Matrix[float64]) {
	linalg.Each(sum.Rows, 64, func(i int) {
		to := sum.Row(i)
		for j, v := range m.Row(i) {
			to[j] += v
		}
	})
}

// mean returns the mean of the number to predict, scaled to the range from -1 to 1.
func (s *Sums) mean() float64 { return s.Total / (One * One) / float64(s.Rows) }

// variance returns the variance of the number to predict, scaled to the range from -1 to 1.
func (s *Sums) variance() float64 {
	return max(0, s.Power/(One*One)/float64(s.Rows)-s.mean()*s.mean())
}

// Triangle returns the number of entries in the upper triangle of a features x features matrix.
func Triangle(features int) int { return features * (features + 1) / 2 }

// rowStart returns the index at which row i of the upper triangle begins.
func rowStart(features, i int) int { return i*features - i*(i-1)/2 }

// Symmetric returns the symmetric matrix whose upper triangle is given row after row.
func Symmetric[T int64 | float64](features int, triangle []T) linalg.Matrix[float64] {
	m := linalg.New[float64](features, features)
	for i := range features {
		for j := i; j < features; j++ {
			v := float64(triangle[rowStart(features, i)+j-i])
			m.Row(i)[j], m.Row(j)[i] = v, v
		}
	}
	return m
}

// ReadOuter copies consecutive entries of the upper triangle of A to dst. The entries are in the
// order of the rows, and start is the index of the first copied entry.
func (s *Sums) ReadOuter(start int, dst []int64) {
	m := s.Outer.Rows
	i := sort.Search(m, func(i int) bool { return rowStart(m, i+1) > start })
	for len(dst) > 0 {
		from := s.Outer.Row(i)[i+start-rowStart(m, i):]
		n := min(len(from), len(dst))
		for k, v := range from[:n] {
			dst[k] = int64(v)
		}
		dst, start, i = dst[n:], start+n, i+1
	}
}

// ReadCross copies consecutive entries of B to dst. The entries are in the order of the targets,
// and start is the index of the first copied entry.
func (s *Sums) ReadCross(start int, dst []int64) {
	for k, v := range s.Cross.Data[start : start+len(dst)] {
		dst[k] = int64(v)
	}
}

// FromEntries returns the sums with the given entries of A and B. The entries have the order of
// [Sums.ReadOuter] and [Sums.ReadCross]. Sums of more than 2^20 rows are rounded to float64.
func FromEntries(features, targets int, outer, cross []int64, rows int) (*Sums, error) {
	if len(outer) != Triangle(features) || len(cross) != targets*features || rows < 1 {
		return nil, fmt.Errorf("moments: there are %d outer and %d cross entries, from %d rows; %d features and %d targets need %d and %d entries, from at least one row", len(outer), len(cross), rows, features, targets, Triangle(features), targets*features)
	}
	s := &Sums{Outer: Symmetric(features, outer), Cross: linalg.New[float64](targets, features)}
	for k, v := range cross {
		s.Cross.Data[k] = float64(v)
	}
	s.Rows = rows
	return s, nil
}

// Targets holds the targets of regressions, which are numbers from -1 to 1 for each row.
type Targets interface {
	// Shape returns the number of rows, and the number of targets of each row.
	Shape() (rows, targets int)
	// Columns copies the targets of consecutive rows to dst, as targets x rows. The rows begin with
	// row first.
	Columns(dst linalg.Matrix[float64], first int)
}

// Classes holds regression targets for classes. The target is +1 for a row's class and -1 for each
// other class.
type Classes struct {
	Codes []int // class codes of the rows, from 0 to Count-1
	Count int
}

// Shape returns the number of rows and the number of classes.
func (c Classes) Shape() (rows, targets int) { return len(c.Codes), c.Count }

// Columns sets dst to the targets of consecutive rows.
func (c Classes) Columns(dst linalg.Matrix[float64], first int) {
	for k := range dst.Rows {
		row := dst.Row(k)
		for i := range row {
			row[i] = -1
			if c.Codes[first+i] == k {
				row[i] = 1
			}
		}
	}
}

// Unlabelled is a number of rows without labels, each of which has the target 1. The sum of target
// times features is then the sum of the features.
type Unlabelled int

// Shape returns the number of rows, and 1 as the number of targets.
func (n Unlabelled) Shape() (rows, targets int) { return int(n), 1 }

// Columns sets every target to 1.
func (n Unlabelled) Columns(dst linalg.Matrix[float64], _ int) { fill(dst.Row(0), 1) }

func fill(row []float64, v float64) {
	for i := range row {
		row[i] = v
	}
}

// Numbers holds the numbers to predict. Each row has two targets: the constant 1, and its number,
// scaled from Range to [-1, 1].
type Numbers struct {
	Values []float64
	Range  Range
}

// Shape returns the number of rows, and 2 as the number of targets.
func (n Numbers) Shape() (rows, targets int) { return len(n.Values), 2 }

// Columns sets row 0 of dst to 1, and row 1 to the scaled numbers.
func (n Numbers) Columns(dst linalg.Matrix[float64], first int) {
	fill(dst.Row(0), 1)
	for i := range dst.Cols {
		dst.Row(1)[i] = n.Range.toUnit(n.Values[first+i])
	}
}

// sums returns the sum of the numbers and the sum of their squares, rounded like features.
func (n Numbers) sums() (total, power float64) {
	for _, v := range n.Values {
		y := math.RoundToEven(n.Range.toUnit(v) * One)
		total += y * One
		power += y * y
	}
	return total, power
}

// Range is the interval of the numbers to predict, including its ends. It is public.
type Range struct{ Least, Greatest float64 }

// Check returns an error if the range is invalid.
func (r Range) Check() error {
	if width := r.Greatest - r.Least; !(width > 0) || math.IsInf(width, 1) {
		return fmt.Errorf("moments: the range is %v to %v; it must have two finite ends, the smaller first", r.Least, r.Greatest)
	}
	return nil
}

// Holds reports whether a number is in the range.
func (r Range) Holds(y float64) bool { return y >= r.Least && y <= r.Greatest }

func (r Range) middle() float64 { return r.Least + r.half() }

func (r Range) half() float64 { return (r.Greatest - r.Least) / 2 }

// toUnit maps a number of the range linearly to [-1, 1].
func (r Range) toUnit(y float64) float64 { return (y - r.middle()) / r.half() }

// Solution is the result of learning with one alpha. Its outputs are linear in the features.
type Solution struct {
	Alpha   float64
	Weights linalg.Matrix[float64] // outputs x features
	Offset  []float64              // number added to each output
}

// Solve returns the regressions of the classes, (A + alpha M/2 I)^-1 B with M features. That is
// kernel ridge regression with the kernel 2/M phi.phi and that alpha.
func Solve(s *Sums, alpha float64) (Solution, error) {
	b := linalg.New[float64](s.Cross.Rows, s.Cross.Cols)
	for k, v := range s.Cross.Data {
		b.Data[k] = v / (One * One)
	}
	return solve(s, b, make([]float64, b.Rows), alpha)
}

// Regress returns the regression of the number to predict, in the number's unit. It is kernel ridge
// regression with the kernel 2/M phi.phi on the numbers minus their mean, which is added to
// predictions. If alpha is the noise of measurements, in units of the variance of the numbers, the
// regression is the mean of a Gaussian process. The targets are [Numbers].
func Regress(s *Sums, r Range, alpha float64) (Solution, error) {
	mean := s.mean()
	b := linalg.New[float64](1, s.Cross.Cols)
	for k, v := range s.Cross.Row(1) {
		b.Data[k] = r.half() * (v - mean*s.Cross.Row(0)[k]) / (One * One)
	}
	return solve(s, b, []float64{r.middle() + r.half()*mean}, alpha)
}

// solve returns the regressions (A + alpha M/2 I)^-1 b.
func solve(s *Sums, b linalg.Matrix[float64], offset []float64, alpha float64) (Solution, error) {
	if !(alpha > 0) || math.IsInf(alpha, 1) {
		return Solution{}, fmt.Errorf("moments: alpha is %v; it must be above 0", alpha)
	}
	l, err := factor(s.Outer, alpha*float64(s.Outer.Rows)/2)
	if err != nil {
		return Solution{}, fmt.Errorf("moments: alpha %v is too small for these sums: %w", alpha, err)
	}
	linalg.SolveCholesky(l, b)
	return Solution{alpha, b, offset}, nil
}

// factor computes A from outer, which is A One^2, and returns the Cholesky factor of A + shift I.
func factor(outer linalg.Matrix[float64], shift float64) (linalg.Matrix[float64], error) {
	l := linalg.New[float64](outer.Rows, outer.Cols)
	for i := range l.Rows {
		for j, v := range outer.Row(i) {
			l.Row(i)[j] = v / (One * One)
		}
		l.Row(i)[i] += shift
	}
	return l, linalg.Cholesky(l)
}

// Decisions returns the outputs for each row of x, as rows x outputs.
func (s Solution) Decisions(m feature.Map, x linalg.Matrix[float64]) linalg.Matrix[float64] {
	phi := linalg.New[float64](x.Rows, m.Len())
	m.Rows(phi, x)
	return s.At(phi)
}

// At computes the outputs from the features phi, which is rows x features.
func (s Solution) At(phi linalg.Matrix[float64]) linalg.Matrix[float64] {
	f := linalg.New[float64](phi.Rows, s.Weights.Rows)
	linalg.MulTransB(f, phi, s.Weights)
	for i := range f.Rows {
		for k, v := range s.Offset {
			f.Row(i)[k] += v
		}
	}
	return f
}

// eachPanel calls the function use with the features of each panel of rows. The argument lo is the
// index of the first row of the panel.
func eachPanel(m feature.Map, rows linalg.Rows, use func(lo int, phi linalg.Matrix[float64])) {
	n, _ := rows.Shape()
	for lo := 0; lo < n; lo += panelRows {
		hi := min(lo+panelRows, n)
		x, phi := linalg.New[float64](hi-lo, m.Width()), linalg.New[float64](hi-lo, m.Len())
		linalg.Gather(x, rows, lo)
		m.Rows(phi, x)
		use(lo, phi)
	}
}
