package job

import "github.com/mercer-fl/mercer/dataset"

// Traits are what a protocol says of itself to readers of job files, before any job is read.
type Traits struct {
	Cuts        Direction // of the data between parties; "" for rows
	Rated       bool      // ratings of items by people, in the place of rows
	Unshared    bool      // one process may run it on a table of its own
	Grouped     bool      // folds keep the rows of a group together
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

// TraitsOf returns a protocol's traits: its own, or those that its interfaces say.
func TraitsOf(k Kind) Traits {
	if own, has := k.(interface{ Traits() Traits }); has {
		return own.Traits()
	}
	var t Traits
	if c, is := k.(Cutter); is {
		t.Cuts = c.Cuts()
	}
	_, t.Rated = k.(Rated)
	_, t.Unshared = k.(Unshared)
	_, t.Grouped = k.(Grouped)
	if c, is := k.(Chooser); is {
		t.Grid, t.NoGrid = ByItself, c.NoGrid()
	}
	if c, is := k.(Compared); is {
		t.Comparisons = c.Comparisons()
	}
	if u, is := k.(Undeployable); is {
		t.Undeployable = u.Undeployable
	}
	return t
}
