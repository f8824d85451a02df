package daemon

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/base/fault"
)

// SplitKeyPath returns the file of the key by which a party holds rows out.
func (h Home) SplitKeyPath() string { return h.path("split.key") }

// newSplitKey draws a split key.
func newSplitKey() (dataset.SplitKey, error) {
	var key dataset.SplitKey
	_, err := rand.Read(key[:])
	return key, err
}

// SetSplitKey puts a split key in the place of what is there.
func (h Home) SetSplitKey(key dataset.SplitKey) error {
	return disk.Replace(h.SplitKeyPath(), key[:])
}

// RenewSplitKey draws another split key for a home in which no daemon runs.
func (h Home) RenewSplitKey() (err error) {
	lock, err := h.take()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	key, err := newSplitKey()
	if err != nil {
		return err
	}
	return h.SetSplitKey(key)
}

// splitKey reads the split key. A home that has none yet gets one as long as it
// has let nothing out: with another key other rows would be held out, and sums over
// both selections differ by single rows.
func (h Home) splitKey() (dataset.SplitKey, error) {
	b, err := os.ReadFile(h.SplitKeyPath())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return h.firstSplitKey()
	case err != nil:
		return dataset.SplitKey{}, fmt.Errorf("daemon: %w", err)
	}
	var key dataset.SplitKey
	if copy(key[:], b); len(b) != len(key) || key == (dataset.SplitKey{}) {
		return key, fault.BadInputf("%s is no split key: it must hold exactly %d bytes; put it back from a backup", h.SplitKeyPath(), len(key))
	}
	return key, nil
}

func (h Home) firstSplitKey() (dataset.SplitKey, error) {
	empty, err := h.Releases().Empty()
	if err != nil {
		return dataset.SplitKey{}, err
	}
	if !empty {
		return dataset.SplitKey{}, fault.BadInputf("%s is missing, and this home has let something out before; put the key back from a backup. If there is none, mercer federation split-key --home %s draws a new one: other rows are then held out, and jobs before and after together tell more about single rows than each does",
			h.SplitKeyPath(), h)
	}
	key, err := newSplitKey()
	if err != nil {
		return key, err
	}
	return key, disk.Create(h.SplitKeyPath(), key[:])
}
