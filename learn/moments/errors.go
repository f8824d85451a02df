package moments

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// Clip is where outputs are cut off before their errors are squared, so that
// one row's error is bounded: twice what targets reach. SquaredOne is how a
// square of 1 is written.
const (
	Clip         = 2
	SquaredOne   = 1 << 24
	SquaredBound = MaxRows * (Clip + 1) * (Clip + 1) * SquaredOne
)

// Errors are sums over held-out rows in whole numbers.
type Errors struct {
	Rows    int64
	Correct []int64 // rows that get their class, for each solution
	Squared []int64 // squared errors in 1/SquaredOne, for each solution and class
}

// Measure sums the errors of a path of solutions over rows.
func Measure(m feature.Map, path []Solution, rows linalg.Rows, codes []int) (*Errors, error) {
	if err := measurable(m, path, rows, len(codes)); err != nil {
		return nil, err
	}
	classes := path[0].Weights.Rows
	e := &Errors{Rows: int64(len(codes)), Correct: make([]int64, len(path)), Squared: make([]int64, len(path)*classes)}
	eachPanel(m, rows, func(lo int, phi linalg.Matrix[float64]) {
		for k, s := range path {
			f := s.At(phi)
			for i := range f.Rows {
				e.add(k, f.Row(i), codes[lo+i])
			}
		}
	})
	return e, nil
}

// measurable checks what is to be measured.
func measurable(m feature.Map, path []Solution, rows linalg.Rows, labels int) error {
	n, width := rows.Shape()
	if len(path) == 0 {
		return errors.New("moments: no solution to measure")
	}
	if n > MaxRows || labels != n || width != m.Width() || path[0].Weights.Cols != m.Len() {
		return fmt.Errorf("moments: %d x %d rows to measure, labels of %d, %d features of %d columns, solutions of %d", n, width, labels, m.Len(), m.Width(), path[0].Weights.Cols)
	}
	return nil
}

// add adds one row's errors to those of solution k.
func (e *Errors) add(k int, decisions []float64, code int) {
	if Predict(decisions) == code {
		e.Correct[k]++
	}
	for c, f := range decisions {
		y := -1.0
		if c == code {
			y = 1
		}
		e.Squared[k*len(decisions)+c] += squaredError(f, y)
	}
}

// squaredError is that of an output, cut off, in 1/SquaredOne.
func squaredError(f, y float64) int64 {
	d := min(max(f, -Clip), Clip) - y
	return int64(math.RoundToEven(d * d * SquaredOne))
}

// Predict returns the class with the largest decision, the first of several.
func Predict(decisions []float64) int {
	best := 0
	for c, f := range decisions {
		if f > decisions[best] {
			best = c
		}
	}
	return best
}

// Best returns the solution with the most correct rows and, among several such,
// the least squared error, or the first.
func (e *Errors) Best() int {
	classes := len(e.Squared) / len(e.Correct)
	squared := func(k int) (sum int64) {
		for _, v := range e.Squared[k*classes : (k+1)*classes] {
			sum += v
		}
		return sum
	}
	best := 0
	for k := range e.Correct {
		if e.Correct[k] > e.Correct[best] || e.Correct[k] == e.Correct[best] && squared(k) < squared(best) {
			best = k
		}
	}
	return best
}

// NumberErrors are sums over held-out rows in whole numbers, of numbers that are
// brought from their range to -1 and 1, in 1/SquaredOne.
type NumberErrors struct {
	Rows    int64
	Truth   int64   // sum of the numbers
	Power   int64   // sum of their squares
	Squared []int64 // squared errors, for each solution
	// Of processes, for each solution, what [Process.Measure] sums up; else nil.
	Deviation, Within []int64
}

// MeasureNumbers sums the errors of a path of solutions over rows.
func MeasureNumbers(m feature.Map, path []Solution, rows linalg.Rows, y Numbers) (*NumberErrors, error) {
	if err := measurable(m, path, rows, len(y.Values)); err != nil {
		return nil, err
	}
	e := &NumberErrors{Rows: int64(len(y.Values)), Squared: make([]int64, len(path))}
	for _, v := range y.Values {
		t := y.Range.in(v)
		e.Truth += int64(math.RoundToEven(t * SquaredOne))
		e.Power += int64(math.RoundToEven(t * t * SquaredOne))
	}
	eachPanel(m, rows, func(lo int, phi linalg.Matrix[float64]) {
		for k, s := range path {
			f := s.At(phi)
			for i := range f.Rows {
				e.Squared[k] += squaredError(y.Range.in(f.Row(i)[0]), y.Range.in(y.Values[lo+i]))
			}
		}
	})
	return e, nil
}

// RMSE is the root of the mean squared error of solution k, in the unit of the
// numbers.
func (e *NumberErrors) RMSE(k int, r Range) float64 {
	return r.half() * math.Sqrt(float64(e.Squared[k])/SquaredOne/float64(e.Rows))
}

// R2 is the share of the held-out numbers' variance that solution k explains;
// false where they are all the same.
func (e *NumberErrors) R2(k int) (float64, bool) {
	n := float64(e.Rows)
	mean := float64(e.Truth) / SquaredOne / n
	spread := float64(e.Power)/SquaredOne - n*mean*mean
	return 1 - float64(e.Squared[k])/SquaredOne/spread, spread > n/SquaredOne
}

// Process returns the mean deviation of solution k, in the unit of the numbers,
// and the share of rows within 1.96 deviations.
func (e *NumberErrors) Process(k int, r Range) (deviation, within float64) {
	n := float64(e.Rows)
	return r.half() * float64(e.Deviation[k]) / SquaredOne / n, float64(e.Within[k]) / n
}

// Best returns the solution with the least squared error, the first of several.
func (e *NumberErrors) Best() int {
	best := 0
	for k, v := range e.Squared {
		if v < e.Squared[best] {
			best = k
		}
	}
	return best
}
