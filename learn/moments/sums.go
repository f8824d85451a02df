package moments

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// One is the integer that represents the value 1 of a feature or a target.
const One = 1 << 16

// These are the limits of sums. MaxRows is the greatest number of rows of one party, and MaxTotal of
// all parties together: the largest possible entry, MaxTotal times Bound, is below 2^63. Bound is the
// most that one row adds to an entry of the sums.
const (
	MaxRows  = 1 << 26
	MaxTotal = 1<<31 - 1
	Bound    = One * One
)

// Sums holds the moments of some rows as float64, for learning. Its entries are whole numbers. They
// are exact up to 2^21 rows, and can be rounded beyond.
type Sums struct {
	Outer linalg.Matrix[float64] // matrix A times One^2, features x features, symmetric
	Cross linalg.Matrix[float64] // matrix B times One^2, transposed to targets x features
	Rows  int
	// Total and Power are the sums of y and of y^2, times One^2, where y is the number of [Numbers].
	// With other targets, and in the result of [FromEntries], they are 0.
	Total, Power float64
}

// NewSums returns sums over an empty set of rows.
func NewSums(features, targets int) *Sums {
	return &Sums{Outer: linalg.New[float64](features, features), Cross: linalg.New[float64](targets, features)}
}

// Summarize returns the moments of the given rows and their targets.
func Summarize(m feature.Mapping, rows linalg.Rows, y Targets) (*Sums, error) {
	_, targets := y.Shape()
	a := NewAccumulator(m, targets)
	if err := a.Add(rows, y); err != nil {
		return nil, err
	}
	return a.Sums(), nil
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

// FromEntries returns the sums with the given entries of A and B, in the order of [Partial].
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

// sums returns the sum of the numbers and the sum of their squares, rounded like features. It is for
// at most MaxBlock numbers, whose sums are exact.
func (n Numbers) sums(lo, hi int) (total, power int64) {
	for _, v := range n.Values[lo:hi] {
		y := math.RoundToEven(n.Range.toUnit(v) * One)
		total += int64(y) * One
		power += int64(y * y)
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

// Solve returns the regressions of the targets, (A + alpha M/2 I)^-1 B with M features. That is
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
		return Solution{}, fmt.Errorf("moments: alpha is %v; it must be finite and above 0", alpha)
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
func (s Solution) Decisions(m feature.Mapping, x linalg.Matrix[float64]) linalg.Matrix[float64] {
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
func eachPanel(m feature.Mapping, rows linalg.Rows, use func(lo int, phi linalg.Matrix[float64])) {
	n, _ := rows.Shape()
	for lo := 0; lo < n; lo += MaxBlock {
		hi := min(lo+MaxBlock, n)
		x, phi := linalg.New[float64](hi-lo, m.Width()), linalg.New[float64](hi-lo, m.Len())
		linalg.Gather(x, rows, lo)
		m.Rows(phi, x)
		use(lo, phi)
	}
}
