package daemon

import (
	"context"
	"errors"
	"io"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/catalogue/live"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// snapshots keep the rows of one job.
type snapshots struct {
	estate *vault.Estate
	job    job.ID
}

// Write implements [snapshot.Store].
func (k snapshots) Write(name string, write func(io.Writer) error) error {
	return k.estate.Write(k.job, vault.Item(name), write)
}

// Open implements [snapshot.Store].
func (k snapshots) Open(name string) (io.ReadCloser, error) {
	return k.estate.Open(k.job, vault.Item(name))
}

// Remove implements [snapshot.Store].
func (k snapshots) Remove(name string) error { return k.estate.Remove(k.job, vault.Item(name)) }

// loadChanging reads a table whose source can change: from the job's snapshot, which it makes
// first if there is none.
func (h Home) loadChanging(ctx context.Context, k snapshots, s Source, t prepare.Table) (*dataset.Set, error) {
	t.Name = s.Name()
	set, err := live.Table(k, t)
	if !errors.Is(err, vault.ErrNoKeepsake) {
		return set, err
	}
	source := live.Source{Origin: s.Origin, Folder: string(h), Mapping: s.mapping(), IDs: s.ID.Columns}
	if err := live.Copy(ctx, k, source); err != nil {
		return nil, err
	}
	return live.Table(k, t)
}
