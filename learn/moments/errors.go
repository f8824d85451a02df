package moments

import (
	"fmt"
	"math"
	"strconv"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// Clip is the bound to which outputs are cut before their errors are squared. It bounds the error of
// one row and is twice the largest magnitude of targets. SquaredOne is the integer that
// represents a square of 1. SquaredBound is the most that one row adds to a sum of squared errors.
const (
	Clip         = 2
	SquaredOne   = 1 << 24
	SquaredBound = (Clip + 1) * (Clip + 1) * SquaredOne
)

// Correct counts the rows whose class a solution predicts correctly.
func Correct(m feature.Mapping, s Solution, rows linalg.Rows, codes []int) (int, error) {
	if err := checkSizes(m, s, rows, len(codes)); err != nil {
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

// checkSizes returns an error if its arguments differ in the number of rows, columns or features.
func checkSizes(m feature.Mapping, s Solution, rows linalg.Rows, labels int) error {
	n, width := rows.Shape()
	if n > MaxRows || labels != n || width != m.Width() || s.Weights.Cols != m.Len() {
		return fmt.Errorf("moments: there are %d x %d rows, %d labels, %d features of %d columns and a solution for %d features; the numbers of rows, of columns and of features must agree, with at most %d rows", n, width, labels, m.Len(), m.Width(), s.Weights.Cols, MaxRows)
	}
	return nil
}

// squaredError returns the squared error of the output f, in units of 1/SquaredOne. It first cuts f
// to the range from -Clip to Clip.
func squaredError(f, y float64) int64 {
	d := min(max(f, -Clip), Clip) - y
	return int64(math.RoundToEven(d * d * SquaredOne))
}

// Predict returns the class with the largest decision, and the first class among equals.
func Predict(decisions []float64) int {
	best := 0
	for c, f := range decisions {
		if f > decisions[best] {
			best = c
		}
	}
	return best
}

// Thousand is the integer that represents one whole row in rounded counts.
const Thousand = 1000

// Five is the step of rounded counts: parties round counts of up to 5,000 held-out rows to multiples of Five.
const Five = 5

// RoundShare rounds a count of n rows, and returns it in units of 1/Thousand of a row. It rounds to
// multiples of five or, if that is more, of a thousandth of the rows. A party adds the rounded
// count to a sum instead of the exact count. Up to 5,000 rows, a count of all n rows becomes the
// largest multiple of five that is at most n, because n itself would reveal that every row was counted.
func RoundShare(count, n int) int64 {
	if n > Five*Thousand {
		return int64(math.RoundToEven(Thousand*float64(count)/float64(n))) * int64(n)
	}
	return Thousand * int64(min((count+Five/2)/Five*Five, n/Five*Five))
}

// RoundedOff returns a bound on the rounding error of a sum of counts, in rows. Each party has
// rounded one count, or its counts of two classes. The rounding of a party changes the sum by at most
// four rows or, for a party with many rows, by at most a thousandth of these rows.
func RoundedOff(parties int, rows float64) float64 {
	return float64((Five-1)*parties) + rows/Thousand
}

// RoundMean rounds the mean over n rows to three digits and returns the corresponding sum. A party
// adds the returned sum to a total instead of the exact sum.
func RoundMean(sum int64, n int) int64 {
	if n == 0 {
		return 0
	}
	mean, err := strconv.ParseFloat(strconv.FormatFloat(float64(sum)/float64(n), 'e', 2, 64), 64)
	if err != nil {
		return 0 // unreachable: a formatted number can always be parsed
	}
	return int64(math.RoundToEven(mean * float64(n)))
}

// NumberErrors holds integer sums over held-out rows, in units of 1/SquaredOne. The numbers to
// predict are scaled from their range to -1 to 1. Before Truth and Power are summed,
// [MeasureNumbers] subtracts the solution's mean from each number, and [MeasureUnitNumbers] does not.
type NumberErrors struct {
	Rows    int64 // number of rows
	Truth   int64 // sum of the numbers
	Power   int64 // sum of the squares of the numbers
	Squared int64 // sum of the squared errors
	// Deviation and Within are the results of [Process.Measure]. Without a Gaussian process they
	// are 0.
	Deviation int64
	Within    int64 // number of rows within 1.96 deviations of the prediction, in 1/Thousand of a row
}

// MeasureNumbers returns the sums of a solution's errors over rows. It clips the numbers'
// differences from the solution's mean to the bound that their range implies.
func MeasureNumbers(m feature.Mapping, s Solution, rows linalg.Rows, y Numbers) (*NumberErrors, error) {
	if err := checkSizes(m, s, rows, len(y.Values)); err != nil {
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
			e.Squared += squaredError(y.Range.toUnit(f.Row(i)[0]), y.Range.toUnit(y.Values[lo+i]))
		}
	})
	return e, nil
}

// Rounded returns rounded sums, which a party reports instead of the exact ones. It rounds means to
// three digits, and counts by [RoundShare].
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

// R2 returns the coefficient of determination on the held-out rows. It returns false if the numbers
// are equal or nearly equal.
func (e *NumberErrors) R2() (float64, bool) {
	n := float64(e.Rows)
	mean := float64(e.Truth) / SquaredOne / n
	spread := float64(e.Power)/SquaredOne - n*mean*mean
	// The spread of nearly equal numbers can be smaller than the rounding to three digits. R2 then
	// returns false.
	return 1 - float64(e.Squared)/SquaredOne/spread, spread > max(n/SquaredOne, 0.2*float64(e.Power)/SquaredOne)
}

// Process returns two figures of a Gaussian process: the mean standard deviation and the share of
// rows within 1.96 deviations. The mean is in the unit of the numbers.
func (e *NumberErrors) Process(r Range) (deviation, within float64) {
	n := float64(e.Rows)
	return r.half() * float64(e.Deviation) / SquaredOne / n, float64(e.Within) / Thousand / n
}
