package party

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// Snapshots holds the rows of sources that can change, sealed under a key for each job.
type Snapshots interface {
	// Jobs lists the jobs that have a snapshot.
	Jobs() ([]vault.Left, error)
	// Erase destroys a job's snapshot; a job that has none is no error.
	Erase(id job.ID) ([]vault.Item, error)
}

func (p *Party) eraseSnapshot(id job.ID) error {
	_, err := p.Snapshots.Erase(id)
	return err
}

// sweepSnapshots erases the snapshots of jobs that are not open. A crash came between the reading
// of a table and the first session, or in the middle of the destruction.
func (p *Party) sweepSnapshots() {
	left, err := p.Snapshots.Jobs()
	for _, s := range left {
		if p.jobs[s.Job] == nil {
			err = errors.Join(err, p.eraseSnapshot(s.Job))
		}
	}
	if err != nil {
		p.Logger.Error("could not erase the rows that were read for jobs that are over", "error", err)
	}
}
