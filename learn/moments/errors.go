package moments

import (
	"fmt"
	"math"
	"strconv"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// Clip is the magnitude at which outputs are cut off before their errors are squared,
// so that one row's error is bounded: twice the magnitude that targets reach.
// SquaredOne is the whole number that stands for a square of 1.
const (
	Clip         = 2
	SquaredOne   = 1 << 24
	SquaredBound = MaxRows * (Clip + 1) * (Clip + 1) * SquaredOne
)

// Correct counts the rows that a solution gives their class.
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

// measurable checks what is to be measured.
func measurable(m feature.Map, s Solution, rows linalg.Rows, labels int) error {
	n, width := rows.Shape()
	if n > MaxRows || labels != n || width != m.Width() || s.Weights.Cols != m.Len() {
		return fmt.Errorf("moments: %d x %d rows to measure, labels of %d, %d features of %d columns, a solution of %d", n, width, labels, m.Len(), m.Width(), s.Weights.Cols)
	}
	return nil
}

// squaredError returns the squared error of an output, cut off, in 1/SquaredOne.
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

// Thousand is the whole number that stands for a whole row in shares.
const Thousand = 1000

// Five is the number of held-out rows in whole multiples of which parties tell counts.
const Five = 5

// RoundShare returns count of n rows in 1/Thousand of a row, rounded to whole fives, or to a
// thousandth of the rows where that is more: what a party adds to a sum in place of a count. All
// n rows are told as the fives in them: as n, they would tell that none is missing.
func RoundShare(count, n int) int64 {
	if n > Five*Thousand {
		return int64(math.RoundToEven(Thousand*float64(count)/float64(n))) * int64(n)
	}
	return Thousand * int64(min((count+Five/2)/Five*Five, n/Five*Five))
}

// RoundedOff bounds by how many rows the sum of the parties' rounded counts of two classes is off:
// by two of each class at a party, or by four where all of its rows are of one; by a thousandth of
// many rows.
func RoundedOff(parties int, rows float64) float64 {
	return float64((Five-1)*parties) + rows/Thousand
}

// RoundMean returns a sum over n rows with its mean rounded to three digits: what a
// party adds to a sum in place of a figure that would be exact.
func RoundMean(sum int64, n int) int64 {
	if n == 0 {
		return 0
	}
	mean, err := strconv.ParseFloat(strconv.FormatFloat(float64(sum)/float64(n), 'e', 2, 64), 64)
	if err != nil {
		return 0 // no number that was written is unreadable
	}
	return int64(math.RoundToEven(mean * float64(n)))
}

// NumberErrors are sums over held-out rows in whole numbers, of numbers that are
// brought from their range to -1 and 1, in 1/SquaredOne.
type NumberErrors struct {
	Rows    int64
	Truth   int64 // sum of the numbers less the solution's mean
	Power   int64 // sum of the squares of these
	Squared int64 // squared errors
	// Of processes what [Process.Measure] sums up; else 0.
	Deviation int64
	Within    int64 // rows, in 1/Thousand
}

// MeasureNumbers sums the errors of a solution over rows. What numbers differ from
// the solution's mean by is cut off where their range could not reach.
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

// Rounded returns the figures as a party tells them: means with three digits, and
// counts as [RoundShare] does.
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

// R2 returns the share of the held-out numbers' variance that the solution explains;
// false where they are all the same.
func (e *NumberErrors) R2() (float64, bool) {
	n := float64(e.Rows)
	mean := float64(e.Truth) / SquaredOne / n
	spread := float64(e.Power)/SquaredOne - n*mean*mean
	// Numbers that are nearly the same, far from the solution's mean, leave of it what three digits of each part hide.
	return 1 - float64(e.Squared)/SquaredOne/spread, spread > max(n/SquaredOne, 0.2*float64(e.Power)/SquaredOne)
}

// Process returns the mean deviation, in the unit of the numbers, and the share of
// rows within 1.96 deviations.
func (e *NumberErrors) Process(r Range) (deviation, within float64) {
	n := float64(e.Rows)
	return r.half() * float64(e.Deviation) / SquaredOne / n, float64(e.Within) / Thousand / n
}
