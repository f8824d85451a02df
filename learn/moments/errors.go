package moments

import (
	"fmt"
	"math"
	"strconv"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// Clip is the magnitude at which outputs are cut off before their errors are squared, so that one
// row's error is bounded: twice the largest magnitude of targets. SquaredOne is the integer that
// represents a square of 1.
const (
	Clip         = 2
	SquaredOne   = 1 << 24
	SquaredBound = MaxRows * (Clip + 1) * (Clip + 1) * SquaredOne
)

// Correct counts the rows whose class a solution predicts correctly.
func Correct(m feature.Map, s Solution, rows linalg.Rows, codes []int) (int, error) {
	if err := measurable(m, s, rows, len(codes)); err != nil {
		return 0, err
	}
	correct := 0
	eachPanel(m, rows, func(lo int, phi linalg.Matrix[float64]) {
		f := s.At(phi)
		for i := range f.Rows {
			if Predict(f.Row(i)) == codes[lo+i] {
				correct++
			}
		}
	})
	return correct, nil
}

// measurable checks the arguments of measurements.
func measurable(m feature.Map, s Solution, rows linalg.Rows, labels int) error {
	n, width := rows.Shape()
	if n > MaxRows || labels != n || width != m.Width() || s.Weights.Cols != m.Len() {
		return fmt.Errorf("moments: %d x %d rows, %d labels, %d features of %d columns and a solution for %d features do not fit together", n, width, labels, m.Len(), m.Width(), s.Weights.Cols)
	}
	return nil
}

// squaredError returns the squared error of an output, cut off, in 1/SquaredOne.
func squaredError(f, y float64) int64 {
	d := min(max(f, -Clip), Clip) - y
	return int64(math.RoundToEven(d * d * SquaredOne))
}

// Predict returns the class with the largest decision, the first one among equals.
func Predict(decisions []float64) int {
	best := 0
	for c, f := range decisions {
		if f > decisions[best] {
			best = c
		}
	}
	return best
}

// Thousand is the integer that represents a whole row in shares.
const Thousand = 1000

// Five is the number to whose multiples parties round counts of held-out rows.
const Five = 5

// RoundShare returns count of n rows in 1/Thousand of a row, rounded to multiples of five or, if
// that is more, of a thousandth of the rows. A party adds it to a sum instead of a count. A count
// of all n rows is reported as the largest multiple of five in n: n itself would reveal that none
// is missing.
func RoundShare(count, n int) int64 {
	if n > Five*Thousand {
		return int64(math.RoundToEven(Thousand*float64(count)/float64(n))) * int64(n)
	}
	return Thousand * int64(min((count+Five/2)/Five*Five, n/Five*Five))
}

// RoundedOff bounds the error, in rows, of the sum of the parties' rounded counts of two classes:
// two rows of each class at a party, or four if all of its rows are of one class; a thousandth of
// the rows if there are many.
func RoundedOff(parties int, rows float64) float64 {
	return float64((Five-1)*parties) + rows/Thousand
}

// RoundMean returns a sum over n rows with its mean rounded to three digits. A party adds it to a
// sum instead of the exact figure.
func RoundMean(sum int64, n int) int64 {
	if n == 0 {
		return 0
	}
	mean, err := strconv.ParseFloat(strconv.FormatFloat(float64(sum)/float64(n), 'e', 2, 64), 64)
	if err != nil {
		return 0 // a formatted number can always be parsed
	}
	return int64(math.RoundToEven(mean * float64(n)))
}

// NumberErrors are integer sums over held-out rows, of numbers scaled from their range to -1 to
// 1, in units of 1/SquaredOne.
type NumberErrors struct {
	Rows    int64
	Truth   int64 // sum of the numbers minus the solution's mean
	Power   int64 // sum of the squares of these
	Squared int64 // squared errors
	// The sums of [Process.Measure] for a process; else 0.
	Deviation int64
	Within    int64 // rows, in 1/Thousand
}

// MeasureNumbers sums the errors of a solution over rows. It clips the numbers' differences from
// the solution's mean to the bound that their range implies.
func MeasureNumbers(m feature.Map, s Solution, rows linalg.Rows, y Numbers) (*NumberErrors, error) {
	if err := measurable(m, s, rows, len(y.Values)); err != nil {
		return nil, err
	}
	e := &NumberErrors{Rows: int64(len(y.Values))}
	for _, v := range y.Values {
		t := min(max((v-s.Offset[0])/y.Range.half(), -Clip), Clip)
		e.Truth += int64(math.RoundToEven(t * SquaredOne))
		e.Power += int64(math.RoundToEven(t * t * SquaredOne))
	}
	eachPanel(m, rows, func(lo int, phi linalg.Matrix[float64]) {
		f := s.At(phi)
		for i := range f.Rows {
			e.Squared += squaredError(y.Range.in(f.Row(i)[0]), y.Range.in(y.Values[lo+i]))
		}
	})
	return e, nil
}

// Rounded returns the figures as a party reports them: means with three digits, and counts by
// [RoundShare].
func (e *NumberErrors) Rounded() *NumberErrors {
	n := int(e.Rows)
	return &NumberErrors{
		Rows: e.Rows, Truth: RoundMean(e.Truth, n), Power: RoundMean(e.Power, n), Squared: RoundMean(e.Squared, n),
		Deviation: RoundMean(e.Deviation, n), Within: RoundShare(int(e.Within/Thousand), n),
	}
}

// RMSE returns the root of the mean squared error, in the unit of the numbers.
func (e *NumberErrors) RMSE(r Range) float64 {
	return r.half() * math.Sqrt(float64(e.Squared)/SquaredOne/float64(e.Rows))
}

// R2 returns the share of the held-out numbers' variance that the solution explains, or false if
// the numbers are all equal.
func (e *NumberErrors) R2() (float64, bool) {
	n := float64(e.Rows)
	mean := float64(e.Truth) / SquaredOne / n
	spread := float64(e.Power)/SquaredOne - n*mean*mean
	// If numbers are nearly equal and far from the solution's mean, the difference is smaller
	// than the rounding to three digits.
	return 1 - float64(e.Squared)/SquaredOne/spread, spread > max(n/SquaredOne, 0.2*float64(e.Power)/SquaredOne)
}

// Process returns the mean deviation, in the unit of the numbers, and the share of rows within
// 1.96 deviations.
func (e *NumberErrors) Process(r Range) (deviation, within float64) {
	n := float64(e.Rows)
	return r.half() * float64(e.Deviation) / SquaredOne / n, float64(e.Within) / Thousand / n
}
