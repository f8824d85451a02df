package stage

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
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
	scaling scale.Scaling      // empty before the scale stage, or without one
	total   int                // rows of all parties, once the server has said so
	parent  protocol.SessionID // of the training

	vertical verticalParty
}

// NewParty prepares a party's table for a job. Errors are the data's fault
// and say what to do. They may quote it, and are for the party's own log.
func NewParty(j *job.Job, self string, t Table) (*Party, error) {
	if j.Data.Partition.By == job.Columns {
		return newVerticalParty(j, self, t)
	}
	return nil, fmt.Errorf("stage: protocol %q cannot be run by a federation", j.Protocol.Name())
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
	case p.split.Set != nil:
		return p.Floors.CheckRows(p.Job.Protocol.Name(), p.split.Set.X.Rows())
	}
	return nil // a person's own list
}

// Known is what the stages so far have made public.
func (p *Party) Known() Known {
	return Known{Declared: p.vertical.declared}
}
