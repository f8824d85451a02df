package party

import (
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
