package simulate

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// plain is a folder that keeps the files of jobs unencrypted. This process owns all rows, so its
// user is allowed to read the files.
type plain string

func (p plain) path(id job.ID, item vault.Item) string {
	return filepath.Join(string(p), id.String(), string(item))
}

func (p plain) Write(id job.ID, item vault.Item, write func(io.Writer) error) error {
	if err := os.MkdirAll(p.path(id, ""), 0o700); err != nil {
		return err
	}
	return disk.ReplaceBy(p.path(id, item), write)
}

func (p plain) Put(id job.ID, item vault.Item, b []byte) error {
	return p.Write(id, item, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
}

func (p plain) Get(id job.ID, item vault.Item) ([]byte, error) {
	b, err := os.ReadFile(p.path(id, item))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, vault.ErrNoState
	}
	return b, err
}

// Erase removes the folder of a job's files. It lists no items that are left.
func (p plain) Erase(id job.ID) ([]vault.Item, error) {
	return nil, os.RemoveAll(p.path(id, ""))
}

// EraseItems does nothing, because a simulation erases nothing by age.
func (plain) EraseItems(job.ID, ...vault.Item) ([]vault.Item, error) { return nil, nil }
