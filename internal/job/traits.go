package job

import (
	"cmp"

	"github.com/mercer-fl/mercer/dataset"
)

// Traits are the fixed properties of a protocol, known before any job is read.
type Traits struct {
	Cuts        Direction // of the data between parties; "" for rows
	Rated       bool      // ratings of items by people, in the place of rows
	Unshared    bool      // one process may run it on a table of its own
	Grouped     bool      // folds keep the rows of a group together
	Fits        bool      // jobs fit and learn nothing: their files are of kind Fit
	Grid        GridBy    // who chooses a cell
	NoGrid      string    // why a job has no grid; "" where it may have one
	Comparisons []Comparison
	// Labels refuses labels that the job does not list, of a protocol whose jobs list them; nil: the
	// parties agree on classes.
	Labels func(*Job, *dataset.Set) error
	// Undeployable returns why real parties cannot run the job, "" where they can; nil: all can.
	Undeployable func(*Job) string
}

// GridBy is the way in which a protocol chooses a cell of a grid.
type GridBy uint8

// The ways. ByFolds is the way of a protocol that says nothing.
const (
	ByFolds GridBy = iota
	ByItself
)

// Partition is the way in which the data are cut between parties.
func (t Traits) Partition() Direction { return cmp.Or(t.Cuts, Rows) }

// Protocol is a Kind that says what it is.
type Protocol interface {
	Kind
	Traits() Traits
}

// traitsOf returns the traits of a protocol; zero for another kind.
func traitsOf(k Kind) Traits {
	if p, is := k.(Protocol); is {
		return p.Traits()
	}
	return Traits{}
}

// Traits returns the traits of the job's protocol.
func (j *Job) Traits() Traits { return traitsOf(j.Protocol.Kind) }
