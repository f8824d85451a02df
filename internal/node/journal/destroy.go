package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/protocol"
)

// Destroy ends a session irrevocably. It overwrites and removes the seed and the fresh bytes, then
// removes the log and the bodies, which nobody can decrypt any more. The tombstone, if it is not
// nil, stays: it has public facts only, such as the outcome. The session's journal must have been
// closed if it was open. A session that cannot be opened can be destroyed. A session can be destroyed
// again; its first tombstone stays.
//
// A tombstone that cannot be written does not stop the destruction.
func (s *Store) Destroy(id protocol.SessionID, tombstone []byte) error {
	if s.isOpen(id) {
		return fmt.Errorf("journal: session %v is open and cannot be destroyed; close its journal first", id)
	}
	dir := s.dir(id)
	errs := []error{bury(dir, tombstone), s.erase(dir)}
	// The end mark is written last. If a crash prevents it, the next OpenStore destroys a session that
	// has a tombstone again.
	errs = append(errs, endMark(s.markPath(id)))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("journal: could not destroy session %v: %w", id, err)
	}
	return nil
}

// endMark marks a session as ended, whatever its mark contained before.
func endMark(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	text := state{ended: true}.String()
	_, err = f.WriteAt([]byte(text), 0)
	if err = errors.Join(err, f.Truncate(int64(len(text))), f.Sync(), f.Close()); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(path))
}

func (s *Store) isOpen(id protocol.SessionID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

// bury writes the tombstone, unless there is one. It runs before anything is destroyed, so that a
// crash cannot lose the outcome.
func bury(dir string, tombstone []byte) error {
	if tombstone == nil {
		return nil
	}
	if err := disk.MakeDir(dir); err != nil {
		return err
	}
	if _, err := os.Stat(tombPath(dir)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return disk.Replace(tombPath(dir), tombstone)
}

// erase removes a session's seed and fresh bytes, and then everything else in its folder except the tombstone.
func (s *Store) erase(dir string) error {
	err := eraseSeeds(dir)
	entries, readErr := os.ReadDir(dir)
	if errors.Is(readErr, fs.ErrNotExist) {
		return err
	}
	errs := []error{err, readErr}
	for _, e := range entries {
		if e.Name() != filepath.Base(tombPath(dir)) {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(append(errs, disk.SyncDir(dir))...)
}

// Tombstone returns the tombstone that Destroy has written. If there is none, errors.Is(err,
// fs.ErrNotExist) holds.
func (s *Store) Tombstone(id protocol.SessionID) ([]byte, error) {
	b, err := os.ReadFile(tombPath(s.dir(id)))
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return b, nil
}

// sweep finishes interrupted destructions. It also repeats destructions that a restored backup has
// undone.
func (s *Store) sweep() error {
	ids, err := s.ids("session")
	if err != nil {
		return err
	}
	for _, id := range ids {
		due, err := s.due(id)
		if err != nil {
			return err
		}
		if due {
			if err := s.Destroy(id, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// due reports whether the destruction of a session must be completed. That is so if the session has
// ended and still has more than its tombstone, or if it has a tombstone and has not ended.
func (s *Store) due(id protocol.SessionID) (bool, error) {
	ended, err := s.ended(id)
	if err != nil {
		return false, err
	}
	entries, err := os.ReadDir(s.dir(id))
	if err != nil {
		return false, err
	}
	buried := false
	for _, e := range entries {
		buried = buried || e.Name() == filepath.Base(tombPath(s.dir(id)))
	}
	if ended {
		return len(entries) > 1 || len(entries) == 1 && !buried, nil
	}
	return buried, nil
}
