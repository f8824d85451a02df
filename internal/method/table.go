package method

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
)

// Table holds the data that a party brings to a job.
type Table struct {
	Set     *dataset.Set
	HeldOut *dataset.Set     // test rows of their own source, or nil
	Ratings *dataset.Ratings // in place of rows, of a recommender
	// Key decides which rows are held out where the job gives a fraction; all of a party's jobs share it.
	Key dataset.SplitKey
	// Held lists the rows of an edition that all jobs with a fraction hold out, ascending; nil: Key says.
	Held []int
	// Edition is what the table is frozen as; zero of a table that jobs see as it is.
	Edition Edition
	Fit     []byte // what this party keeps of the fit that the job names; nil: nothing
	// Alignment is what this party keeps of the alignment that the job names; nil: nothing.
	Alignment []byte
	IDRule    string // by which ids were made, equal at all parties; "" for one column as it stands
	// Label is the column of the labels where the job leaves that to the catalogue.
	Label string
}

// Edition names a table as its home has frozen it for a dictionary. What a party has let out of one is compared
// with what it has let out of another by their names.
type Edition struct {
	ID     string   // "" of none
	Number int      // from 1, ascending for one table and dictionary
	IDs    []string // of its rows; nil of a table without ids
	// Out is what a job holds out of the edition, in words; of sums, whose rows depend on it.
	Out string
	// Clear lists earlier editions beside which this one tells, of the job's columns and label, of nobody or of ten
	// people. Beside one that is not listed it may tell of fewer.
	Clear Clear
}

// Clear lists editions by their IDs: those beside which rows may be told, sums without a label, sums for each class
// of the label, sums with the label as a number, and counts of held-out rows of each class.
type Clear struct{ Rows, Sums, Classes, Numbers, HeldOut []string }

// Counting is the edition as a job sees it that counts held-out rows of each class, beside sums for each class.
func (e Edition) Counting() Edition {
	e.Clear.Classes = slices.DeleteFunc(slices.Clone(e.Clear.Classes), func(id string) bool { return !slices.Contains(e.Clear.HeldOut, id) })
	return e
}

// Without is the edition as a job sees it that holds some of its rows out. Sums are clear for the rows in training
// by the dictionary's own fraction.
func (e Edition) Without(t job.Test) Edition {
	e.Out = t.Words()
	if t.Fraction == 0 {
		e.Clear = Clear{}
	}
	return e
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
	Set      *dataset.Set
	Test     []bool
	Prepared *prepare.Preparation // of a table with a schema
	Frame    *prepare.Frame       // the cells as they were read, of such a table
}

// Rows lists the held-out rows, or the other rows. It is never nil.
func (s Split) Rows(held bool) []int {
	rows := []int{}
	for i, test := range s.Test {
		if test == held {
			rows = append(rows, i)
		}
	}
	return rows
}

// TakeLabels returns a table with the labels that a job asks for, merged. Others stay behind.
func TakeLabels(j *job.Job, set *dataset.Set) (*dataset.Set, error) {
	switch {
	case j.Data.Label == job.NoLabel:
		unlabelled := *set
		unlabelled.Labels = nil
		return &unlabelled, nil
	case set.Labels == nil:
		return nil, dataset.NoColumn(j.Data.Label, "%s has no column %q to take the labels from", set.Name, j.Data.Label)
	}
	return j.Data.Take(set)
}

// CheckLabels checks the labels, if a table has any, against the needs of a job's learner.
func CheckLabels(j *job.Job, set *dataset.Set) error {
	check := j.Task().Check
	if set.Labels == nil || check == nil {
		return nil
	}
	if err := check(set.Labels); err != nil {
		return fmt.Errorf("%s: %w", set.Name, err)
	}
	return nil
}

// CheckNames refuses names of columns that cannot be kept beside a model.
func CheckNames(set *dataset.Set) error {
	for i, name := range set.Columns {
		if len(name) > MaxLabelBytes {
			return fmt.Errorf("%s: the name of column %d has %d bytes; at most %d are allowed", set.Name, i+1, len(name), MaxLabelBytes)
		}
	}
	return nil
}

// LikeTraining returns a table with its columns in the order of the training table, by their
// names. It refuses a table without these columns and, where one of the tables has no names,
// a table of another width.
func LikeTraining(set *dataset.Set, width int, columns []string) (*dataset.Set, error) {
	if (set.Columns == nil || columns == nil) && set.X.Cols() != width {
		return nil, fmt.Errorf("%s has %d features, the model was trained on %d", set.Name, set.X.Cols(), width)
	}
	set, err := set.Arrange("the training table", width, columns)
	if err != nil {
		return nil, err
	}
	return set, set.Validate()
}
