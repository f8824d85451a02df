package method

import "github.com/mercer-fl/mercer/dataset"

// Table is what a party brings to a job.
type Table struct {
	Set     *dataset.Set
	HeldOut *dataset.Set     // test rows of their own source, or nil
	Ratings *dataset.Ratings // in place of rows, of a recommender
	// Key decides which rows are held out where the job gives their fraction. It is
	// the party's own, and the same for all of its jobs.
	Key dataset.SplitKey
	// Label is the column of the labels where the job leaves that to the catalogue.
	Label string
}

// Rows is the number of rows, held-out ones included.
func (t Table) Rows() int {
	if t.HeldOut == nil {
		return t.Set.X.Rows()
	}
	return t.Set.X.Rows() + t.HeldOut.X.Rows()
}

// Split is a party's rows, some of which are held out.
type Split struct {
	Set  *dataset.Set
	Test []bool
}
