package lattice

import (
	"math"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// Reading holds the findings of an attack.
type Reading struct {
	Rank    int // dimensions that the rows fill
	Columns []Column
}

// Column is a feature in every row: Step times Values, or minus that. It may
// also be the difference or the sum of two features of equal steps, with Step
// their step over the square root of 2. The value of largest size is positive.
//
// The vector behind a column was checked: twice its inner product with each row
// is a whole multiple of its squared norm, which chance does not make of all
// rows.
type Column struct {
	Step   float64
	Values []int64
}

// whole is the largest distance of a quotient from a whole number.
const whole = .1

// add takes a vector for a column, if it can be one: inner are its inner
// products with all rows, square that with itself.
func (r *Reading) add(inner []float64, square float64) {
	values := make([]int64, len(inner))
	odd := false
	for i, v := range inner {
		q := math.Round(2 * v / square)
		if !(math.Abs(2*v/square-q) < whole) {
			return
		}
		values[i] = int64(q)
		odd = odd || values[i]&1 != 0
	}
	least, most := slices.Min(values), slices.Max(values)
	if least == most {
		return
	}
	step := math.Sqrt(square) / 2
	for i := range values {
		if -least > most {
			values[i] *= -1
		}
		if !odd {
			values[i] /= 2
		}
	}
	if !odd {
		step *= 2
	}
	r.Columns = append(r.Columns, Column{Step: step, Values: values})
}

// Recovered returns the columns of x, rows x features, that were read: to within
// tol in every row, up to sign. They ascend.
func (r Reading) Recovered(x linalg.Matrix[float64], tol float64) (columns []int) {
	for j := range x.Cols {
		if slices.ContainsFunc(r.Columns, func(c Column) bool { return c.is(x, j, tol) }) {
			columns = append(columns, j)
		}
	}
	return columns
}

// is reports whether c is column j of x.
func (c Column) is(x linalg.Matrix[float64], j int, tol float64) bool {
	plus, minus := true, true
	for i, v := range c.Values {
		plus = plus && math.Abs(x.Row(i)[j]-c.Step*float64(v)) <= tol
		minus = minus && math.Abs(x.Row(i)[j]+c.Step*float64(v)) <= tol
	}
	return plus || minus
}
