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

// Destroy ends a session irrevocably: it overwrites and removes the seed, then removes the log and the
// bodies, which nobody can open any more. tombstone stays, if it is not nil: public facts only, such as
// the outcome. The journal, if any, must have been closed. A session that cannot be opened can be
// destroyed, and a second Destroy changes nothing; the first tombstone stays.
//
// A tombstone that cannot be written does not stop the destruction.
func (s *Store) Destroy(id protocol.SessionID, tombstone []byte) error {
	if s.isOpen(id) {
		return fmt.Errorf("journal: session %v is open; close its journal before destroying it", id)
	}
	dir := s.dir(id)
	errs := []error{bury(dir, tombstone), s.erase(dir)}
	// The next OpenStore needs this mark; it is last, so that a crash before it leaves the session to
	// be destroyed again.
	errs = append(errs, endMark(s.markPath(id)))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("journal: destroying session %v: %w", id, err)
	}
	return nil
}

// endMark marks a session as ended, whatever content the mark had before.
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

// bury writes the tombstone first: a crash later on must not lose the outcome.
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

// erase removes everything from a session's folder but the tombstone, the seed
// first.
func (s *Store) erase(dir string) error {
	err := disk.Erase(seedPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
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

// Tombstone returns the tombstone of Destroy; an error for which errors.Is(err, fs.ErrNotExist) holds
// if there is none.
func (s *Store) Tombstone(id protocol.SessionID) ([]byte, error) {
	b, err := os.ReadFile(tombPath(s.dir(id)))
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return b, nil
}

// sweep finishes destructions that a crash interrupted, and repeats destructions that a restored
// backup has undone.
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

// due reports whether a destruction must be completed: the session has ended and still has files, or has a
// tombstone and has not ended.
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
