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
	HeldOut *dataset.Set     // test rows from a separate source, or nil
	Ratings *dataset.Ratings // a recommender's data, in place of rows
	// Stream reads the table in blocks. It replaces Set, for protocols with the trait Streams.
	Stream Stream
	// Key selects the held-out rows of a job with a held-out fraction. All jobs of a party's home share
	// the key; in command simulate it follows from the job's seed.
	Key dataset.SplitKey
	// Together orders the common rows of parties with different columns and selects the held-out ones,
	// in a process that has all parties' tables. Nil means that the parties' own secret key does.
	Together *dataset.SplitKey
	// The list Held has, in ascending order, the rows of an edition that all jobs with a held-out
	// fraction hold out. Nil means that Key selects the rows.
	Held []int
	// HeldBits is like Held, with one bit for each row, for a table that is read in blocks.
	HeldBits Bits
	// StreamRows is the number of rows that Stream must have, if HeldBits is set.
	StreamRows int
	// Edition describes the frozen state of the table. It is zero for a table that is not frozen.
	Edition Edition
	Fit     []byte // this party's retained part of the fit that the job names; nil: none
	// Alignment is this party's retained part of the alignment that the job names; nil if it has
	// none.
	Alignment []byte
	IDRule    string // rule that makes ids from columns, the same at all parties; "" if one column holds the ids
	// Label names the column of the labels if the job leaves the choice to the catalogue.
	Label string
}

// Edition identifies the state of a table that its owner has frozen for a dictionary. The ledger
// compares a party's releases of different editions by the editions' names.
type Edition struct {
	ID     string   // "" without an edition
	Number int      // counts the editions of one table and dictionary from 1
	IDs    []string // ids of the edition's rows; nil for a table without ids, and for one that is read in blocks
	// The field Out describes the rows that a job holds out of the edition. It is set for sums,
	// because the choice of the summed rows depends on the rows held out.
	Out string
	// Clear lists earlier editions that do not block a release from this edition. In the job's
	// columns and label, each of them differs from this edition for no person or for at least ten
	// people. The difference from an unlisted edition may concern fewer people.
	Clear Clear
}

// Clear lists, for each kind of release, the IDs of earlier editions that do not block a new
// release of that kind. The kinds are rows, sums without a label, sums for each class of the label,
// sums with the label as a number, and counts of held-out rows of each class.
type Clear struct{ Rows, Sums, Classes, Numbers, HeldOut []string }

// Counting returns a copy of e for a job that also releases counts of held-out rows by class. Its
// Clear.Classes keeps only editions that Clear.HeldOut lists too.
func (e Edition) Counting() Edition {
	e.Clear.Classes = slices.DeleteFunc(slices.Clone(e.Clear.Classes), func(id string) bool { return !slices.Contains(e.Clear.HeldOut, id) })
	return e
}

// Without returns a copy of e that records which rows a job holds out. It empties Clear unless t
// holds out a fraction, because Clear lists sums for the dictionary's own fraction.
func (e Edition) Without(t job.Test) Edition {
	e.Out = t.Words()
	if t.Fraction == 0 {
		e.Clear = Clear{}
	}
	return e
}

// Rows returns the number of rows of a table in memory, including held-out rows.
func (t Table) Rows() int {
	if t.HeldOut == nil {
		return t.Set.X.Rows()
	}
	return t.Set.X.Rows() + t.HeldOut.X.Rows()
}

// Split holds a party's rows and marks the held-out rows.
type Split struct {
	Set      *dataset.Set
	Test     []bool
	Prepared *prepare.Preparation // preparation of a table with a schema
	Frame    *prepare.Frame       // the cells as read, for a table with a schema
}

// Rows lists the held-out rows if heldOut is true, and the training rows otherwise. The list is
// never nil.
func (s Split) Rows(heldOut bool) []int {
	rows := []int{}
	for i, test := range s.Test {
		if test == heldOut {
			rows = append(rows, i)
		}
	}
	return rows
}

// TakeLabels returns a table with only the labels that a job needs, after merging of classes.
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

// CheckLabels checks a table's labels, if it has any, against the requirements of a job's learner.
func CheckLabels(j *job.Job, set *dataset.Set) error {
	check := j.Task().Check
	if set.Labels == nil || check == nil {
		return nil
	}
	return check(set)
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

// LikeTraining returns a table with its columns, found by name, in the order of the training table.
// It refuses a table without these columns and, if one of the tables has no names, a table of
// another width.
func LikeTraining(set *dataset.Set, width int, columns []string) (*dataset.Set, error) {
	if (set.Columns == nil || columns == nil) && set.X.Cols() != width {
		return nil, fmt.Errorf("%s has %d features; the model was trained on %d", set.Name, set.X.Cols(), width)
	}
	set, err := set.Arrange("the training table", width, columns)
	if err != nil {
		return nil, err
	}
	return set, set.Validate()
}
