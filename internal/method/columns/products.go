package columns

import (
	"math"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/gram"
)

// Products is a function that computes the fixed-point parameters for a sum of Gram matrices.
type Products func(holders []gram.Holder, rows int) (gram.Params, error)

// ProductsOf returns the function that computes the parameters for a job's sum of Gram matrices.
func ProductsOf(j *job.Job) Products {
	return func(holders []gram.Holder, rows int) (gram.Params, error) {
		train, test, err := Sizes(j, rows)
		if err != nil {
			return gram.Params{}, err
		}
		return gram.NewParams(holders, train, test)
	}
}

// Params returns the fixed-point parameters that follow from all parties' declarations.
func (a Products) Params(d Declared) (gram.Params, error) {
	rows, err := d.Rows()
	if err != nil {
		return gram.Params{}, err
	}
	var holders []gram.Holder
	for _, one := range d.List {
		holders = append(holders, one.Columns)
	}
	p, err := a(holders, rows)
	if err != nil {
		return gram.Params{}, fault.BadInput(err)
	}
	return p, nil
}

// PartOf returns the Gram matrix of a party's own columns, which is the party's term in the sum.
func (a Products) PartOf(d Declared, party int, rows linalg.Rows) (*gram.Part, error) {
	layout, err := a.Params(d)
	if err != nil {
		return nil, err
	}
	part, err := layout.Part(rows, party)
	if err != nil {
		return nil, TooLarge(err)
	}
	return part, nil
}

// DeclareProducts stores in d how many columns the party has and how large their values are.
func DeclareProducts(d *Declaration, rows linalg.Rows) error {
	var err error
	if d.Columns, err = holderOf(rows); err != nil {
		return TooLarge(err)
	}
	return nil
}

// holderOf describes a party's columns: their number, the exponent of the largest magnitude, and
// whether all values are whole numbers.
func holderOf(rows linalg.Rows) (gram.Holder, error) {
	n, width := rows.Shape()
	h := gram.Holder{Columns: width, Whole: true}
	row, most := make([]float64, width), 0.0
	for i := range n {
		rows.ReadRow(i, row)
		for _, x := range row {
			most = math.Max(most, math.Abs(x))
			h.Whole = h.Whole && x == math.Trunc(x)
		}
	}
	var err error
	h.Exponent, err = gram.Exponent(most)
	return h, err
}

// TooLarge wraps an error about values that are too large. The error quotes these values only in
// their owner's log; other members do not see them.
func TooLarge(err error) error {
	return fault.Magnitude.Of(err)
}
