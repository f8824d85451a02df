package moments

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// Targets are numbers from -1 to 1 that go with rows: what regressions are
// fitted to.
type Targets interface {
	// Shape returns the number of rows and of targets that each has.
	Shape() (rows, targets int)
	// Columns sets dst, targets x rows, to the targets of the rows from first on.
	Columns(dst linalg.Matrix[float64], first int)
}

// Classes are +1 for a row's class and -1 for the others.
type Classes struct {
	Codes []int // of the rows, from 0 to Count-1
	Count int
}

// Shape returns rows and classes.
func (c Classes) Shape() (rows, targets int) { return len(c.Codes), c.Count }

// Columns sets dst to the targets of rows.
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

// Unlabelled is the target 1 of that number of rows. Its sum with the features is the
// features' sum.
type Unlabelled int

// Shape returns rows and 1.
func (n Unlabelled) Shape() (rows, targets int) { return int(n), 1 }

// Columns sets dst to 1.
func (n Unlabelled) Columns(dst linalg.Matrix[float64], _ int) { fill(dst.Row(0), 1) }

func fill(row []float64, v float64) {
	for i := range row {
		row[i] = v
	}
}

// Numbers are two targets: 1, and a number to predict, brought from its range
// to -1 and 1.
type Numbers struct {
	Values []float64
	Range  Range
}

// Shape returns rows and 2.
func (n Numbers) Shape() (rows, targets int) { return len(n.Values), 2 }

// Columns sets dst to ones and numbers.
func (n Numbers) Columns(dst linalg.Matrix[float64], first int) {
	fill(dst.Row(0), 1)
	for i := range dst.Cols {
		dst.Row(1)[i] = n.Range.in(n.Values[first+i])
	}
}

// sums of the numbers and of their squares, rounded as features are.
func (n Numbers) sums() (total, power float64) {
	for _, v := range n.Values {
		y := math.RoundToEven(n.Range.in(v) * One)
		total += y * One
		power += y * y
	}
	return total, power
}

// Range is the interval of the numbers to predict, ends included. It is public.
type Range struct{ Least, Greatest float64 }

// Check refuses what is no range.
func (r Range) Check() error {
	if width := r.Greatest - r.Least; !(width > 0) || math.IsInf(width, 1) {
		return fmt.Errorf("moments: a range from %v to %v; give two finite numbers, the smaller first", r.Least, r.Greatest)
	}
	return nil
}

// Holds reports whether a number is in the range.
func (r Range) Holds(y float64) bool { return y >= r.Least && y <= r.Greatest }

func (r Range) middle() float64 { return r.Least + r.half() }

func (r Range) half() float64 { return (r.Greatest - r.Least) / 2 }

// in brings a number of the range to -1 to 1.
func (r Range) in(y float64) float64 { return (y - r.middle()) / r.half() }
