package method

import (
	"fmt"

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
	Held   []int
	Fit    []byte // what this party keeps of the fit that the job names; nil: nothing
	IDRule string // by which ids were made, equal at all parties; "" for one column as it stands
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
