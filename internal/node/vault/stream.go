package vault

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/mercer-fl/mercer/internal/base/sealed"
	"github.com/mercer-fl/mercer/internal/job"
)

// Open returns a reader of an item that is too large for memory. Reading fails at the first segment
// that cannot be decrypted, and at an end that is not the item's.
func (e *Artifacts) Open(id job.ID, item Item) (io.ReadCloser, error) {
	key, err := e.keyOf(id)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	f, err := os.Open(e.path(id, string(item)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoState
	}
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	r, err := sealed.NewReader(f, key, itemInfo(id, item))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("vault: %s: %w", f.Name(), err), f.Close())
	}
	return openedItem{f, r}, nil
}

// Remove removes one of a job's items. If the drive still has the item's bytes, they stay sealed
// under the job's key.
func (e *Artifacts) Remove(id job.ID, item Item) error {
	if err := os.Remove(e.path(id, string(item))); err != nil {
		return fmt.Errorf("vault: %w", err)
	}
	return nil
}

// openedItem reads an item from its file.
type openedItem struct {
	file  *os.File
	plain *sealed.Reader
}

// Read implements [io.Reader].
func (o openedItem) Read(b []byte) (int, error) {
	n, err := o.plain.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("vault: %s: %w", o.file.Name(), err)
	}
	return n, err
}

// Close clears the decrypted bytes and closes the file.
func (o openedItem) Close() error {
	o.plain.Clear()
	return o.file.Close()
}
