package moments

import (
	"math"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// UnitSquare is the most that one row adds to the squared errors of [MeasureUnitNumbers]: outputs and
// numbers are both cut to [-1, 1].
const UnitSquare = 4 * SquaredOne

// MeasureUnitNumbers is like [MeasureNumbers], but it cuts outputs and numbers to the range. Truth and Power are
// the sums of the scaled numbers and of their squares. One row adds at most SquaredOne in magnitude to either, and at
// most [UnitSquare] to Squared, so that noise can hide it.
func MeasureUnitNumbers(m feature.Mapping, s Solution, rows linalg.Rows, y UnitNumbers) (*NumberErrors, error) {
	if err := checkSizes(m, s, rows, len(y.Values)); err != nil {
		return nil, err
	}
	e := &NumberErrors{Rows: int64(len(y.Values))}
	for _, v := range y.Values {
		t := y.Range.cut(v)
		e.Truth += int64(math.RoundToEven(t * SquaredOne))
		e.Power += int64(math.RoundToEven(t * t * SquaredOne))
	}
	eachPanel(m, rows, func(lo int, phi linalg.Matrix[float64]) {
		f := s.At(phi)
		for i := range f.Rows {
			d := y.Range.cut(f.Row(i)[0]) - y.Range.cut(y.Values[lo+i])
			e.Squared += int64(math.RoundToEven(d * d * SquaredOne))
		}
	})
	return e, nil
}

// cut maps a number of the range linearly to [-1, 1], and other numbers to the nearer end. It maps NaN to the
// middle: a solution with huge weights has such outputs for the rows that its author chooses.
func (r Range) cut(y float64) float64 {
	t := r.toUnit(y)
	if math.IsNaN(t) {
		return 0
	}
	return min(max(t, -1), 1)
}
