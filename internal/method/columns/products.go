package columns

import (
	"math"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/gram"
)

// Products computes the fixed-point parameters for a sum of Gram matrices from the parties'
// declarations and the number of common rows.
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

// PartOf returns the Gram matrix of a party's own columns, as its term of the sum.
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

// DeclareProducts adds to a declaration the number and the largest magnitude of the party's
// columns, over all its rows.
func DeclareProducts(d *Declaration, rows linalg.Rows) error {
	var err error
	if d.Columns, err = holderOf(rows); err != nil {
		return TooLarge(err)
	}
	return nil
}

// holderOf returns the number of a party's columns, the exponent of their largest magnitude and
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

// TooLarge returns an error that reports too large values without quoting them to other members.
// Only the log of their owner quotes them.
func TooLarge(err error) error {
	return fault.Magnitude.Of(err)
}
