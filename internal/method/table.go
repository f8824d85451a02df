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
	// Key selects the held-out rows for a job with a fraction; all jobs of a party share it.
	Key dataset.SplitKey
	// Held lists, ascending, the rows of an edition that all jobs with a fraction hold out; nil
	// means that Key selects them.
	Held []int
	// Edition describes the frozen state of the table; zero for a table that jobs see unfrozen.
	Edition Edition
	Fit     []byte // what this party keeps of the fit that the job names; nil: nothing
	// Alignment is this party's retained part of the alignment that the job names; nil if it has
	// none.
	Alignment []byte
	IDRule    string // by which ids were made, equal at all parties; "" for one column as it stands
	// Label is the column of the labels if the job leaves the choice to the catalogue.
	Label string
}

// Edition names a table as its home has frozen it for a dictionary. The ledger compares a party's
// releases of different editions by these names.
type Edition struct {
	ID     string   // "" of none
	Number int      // from 1, ascending for one table and dictionary
	IDs    []string // of its rows; nil of a table without ids
	// Out describes the rows that a job holds out of the edition; set for sums, whose rows depend
	// on it.
	Out string
	// Clear lists earlier editions whose difference from this one, in the job's columns and label,
	// concerns nobody or at least ten people. The difference from an unlisted edition may concern
	// fewer.
	Clear Clear
}

// Clear lists editions by their IDs: those beside which rows, sums without a label, sums for each
// class of the label, sums with the label as a number, and counts of held-out rows of each class
// may be released.
type Clear struct{ Rows, Sums, Classes, Numbers, HeldOut []string }

// Counting returns the edition as seen by a job that counts held-out rows of each class beside sums
// for each class.
func (e Edition) Counting() Edition {
	e.Clear.Classes = slices.DeleteFunc(slices.Clone(e.Clear.Classes), func(id string) bool { return !slices.Contains(e.Clear.HeldOut, id) })
	return e
}

// Without returns the edition as seen by a job that holds out some of its rows. Clear lists sums
// for the rows in training by the dictionary's own fraction.
func (e Edition) Without(t job.Test) Edition {
	e.Out = t.Words()
	if t.Fraction == 0 {
		e.Clear = Clear{}
	}
	return e
}

// Rows returns the number of rows, including held-out ones.
func (t Table) Rows() int {
	if t.HeldOut == nil {
		return t.Set.X.Rows()
	}
	return t.Set.X.Rows() + t.HeldOut.X.Rows()
}

// Split is a party's rows with the places of the held-out ones.
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

// TakeLabels returns a table with the labels that a job needs, merged. It drops all others.
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

// CheckNames refuses column names that are too long to be stored with a model.
func CheckNames(set *dataset.Set) error {
	for i, name := range set.Columns {
		if len(name) > MaxLabelBytes {
			return fmt.Errorf("%s: the name of column %d has %d bytes; at most %d are allowed", set.Name, i+1, len(name), MaxLabelBytes)
		}
	}
	return nil
}

// LikeTraining returns a table with its columns in the order of the training table, by their names.
// It refuses a table without these columns and, if one of the tables has no names, a table of
// another width.
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
