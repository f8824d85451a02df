package stage

import (
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// Party is what a data holder has of a job while it runs: its rows, and what
// the stages made of them.
type Party struct {
	Job  *job.Job
	Self string
	// MaxFeatures is the most random features of which the party's operator lets
	// sums be made where the job leaves their number open; 0 for any.
	MaxFeatures int
	// Floors are what the party's operator asks of the job and of these rows.
	Floors Floors

	label   string // the column of the labels, where the catalogue says
	split   Split
	rows    linalg.Rows // all rows of the split; scaled once scaling is known
	grid    method.Grid
	scaling scale.Scaling // empty before the scale stage, or without one
	total   int           // rows of all parties, once the server has said so
	epoch   okra.Seed
	parent  protocol.SessionID // of the upload
	moments momentsParty

	vertical verticalParty
	crowd    crowdParty
}

// NewParty prepares a party's table for a job. Errors are the data's fault
// and say what to do. They may quote it, and are for the party's own log.
func NewParty(j *job.Job, self string, t Table) (*Party, error) {
	if j.Data.Partition.By == job.Columns {
		return newVerticalParty(j, self, t)
	}
	if is[*fedcfkKeys](j) {
		return newCrowdParty(j, self, t)
	}
	split, err := SplitTable(j, t)
	if err != nil {
		return nil, err
	}
	return &Party{Job: j, Self: self, label: t.Label, split: split, rows: dataset.RowsOf(split.Set.X), grid: method.GridOf(split.Set.X)}, nil
}

// SplitTable checks a table against a job and holds rows out: of a fraction, those
// that the table's own key says. The launching process uses it too, so that its
// comparisons see the same rows.
func SplitTable(j *job.Job, t Table) (Split, error) {
	set := t.Set
	if t.HeldOut != nil {
		var err error
		held, err := t.HeldOut.Arrange("the training table", t.Set.X.Cols(), t.Set.Columns)
		if err != nil {
			return Split{}, err
		}
		if set, err = dataset.Append(t.Set, held); err != nil {
			return Split{}, err
		}
	}
	if set.X.Rows() == 0 {
		return Split{}, fmt.Errorf("%s has no rows", set.Name)
	}
	set, err := labelled(j, set)
	if err != nil {
		return Split{}, err
	}
	if err := set.Validate(); err != nil {
		return Split{}, err
	}
	if err := method.CheckNames(set); err != nil {
		return Split{}, err
	}
	test, err := heldOut(j, t)
	if err != nil {
		return Split{}, err
	}
	s := Split{Set: set, Test: make([]bool, set.X.Rows())}
	for _, i := range test {
		s.Test[i] = true
	}
	return s, nil
}

// labelled checks the labels against what the job's learner needs. Labels that
// the job does not ask for stay behind.
func labelled(j *job.Job, set *dataset.Set) (*dataset.Set, error) {
	set, err := method.TakeLabels(j, set)
	switch {
	case err != nil || set.Labels == nil:
		return set, err
	case is[*momentsKeys](j):
		return set, checkTargets(j, set)
	}
	return set, method.CheckLabels(j, set)
}

// heldOut returns the rows that are held out, ascending.
func heldOut(j *job.Job, t Table) ([]int, error) {
	n := t.Set.X.Rows()
	switch {
	case j.Data.Test == job.Test{}: // folds only
		return nil, nil
	case t.HeldOut != nil:
		rows := make([]int, t.HeldOut.X.Rows())
		for i := range rows {
			rows[i] = n + i
		}
		return rows, nil
	case j.Data.Test.Every > 0:
		_, test, err := dataset.Every(n, j.Data.Test.Every)
		return test, err
	}
	_, test, err := t.Key.Split(t.Set, j.Data.Test.Fraction)
	return test, err
}

// training returns the rows that are not held out: only they may shape the
// scaling.
func (p *Party) training() linalg.Rows {
	var index []int
	for i, held := range p.split.Test {
		if !held {
			index = append(index, i)
		}
	}
	return linalg.Pick(p.rows, index)
}

// width is the number of features.
func (p *Party) width() int { return p.split.Set.X.Cols() }

// Facts tells what the leakage statement needs; nothing before the server has
// counted the rows.
func (p *Party) Facts() method.Facts {
	if p == nil || p.total == 0 {
		return method.Facts{}
	}
	facts := method.Facts{Known: true, Grid: p.grid}
	if p.total >= p.width() && p.Job.Data.Partition.By != job.Columns { // those are declared
		facts.Features = uint32(p.width())
	}
	return facts
}

// CheckFloors says which of the party's own floors its table is below. Peers are
// told only that it is.
func (p *Party) CheckFloors() error {
	switch {
	case p.vertical.table != nil:
		return p.Floors.CheckRows(p.Job.Protocol.Name(), p.vertical.table.X.Rows())
	case is[*momentsKeys](p.Job):
		return p.Floors.CheckSplit(p.Job, p.split)
	case p.split.Set != nil:
		return p.Floors.CheckRows(p.Job.Protocol.Name(), p.split.Set.X.Rows())
	}
	return nil // a person's own list
}
