package release

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mercer-fl/mercer/internal/disk"
)

// Ledger is the folder in which a party's releases are kept. It need not exist.
type Ledger string

// State is where a release stands.
type State string

// The states, which are the suffixes of files.
const (
	Released State = "released"
	Held     State = "held"
	Approved State = "approved"
)

// HeldError says that a release waits for the operator. It names columns, and is
// for the party's own log.
type HeldError struct {
	ID      string
	Earlier string   // the job of the release that it differs from
	Reveals []string // what both tell together
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("release %s is held, since it differs from that of job %s over some of the same rows: %s; to allow it all the same: mercer release approve %s",
		e.ID, e.Earlier, strings.Join(e.Reveals, "; "), e.ID)
}

// Public implements what peers may be told.
func (e *HeldError) Public() string {
	return fmt.Sprintf("its ledger holds the job, which differs from an earlier one over some of the same rows; its operator can see why and allow it (mercer release list, release %s)", e.ID)
}

func (l Ledger) path(id string, s State) string {
	return filepath.Join(string(l), id+"."+string(s))
}

// Admit enters a release, durably, before anything is let out. It returns a
// *HeldError if the operator must approve it first. Of two that differ, admitted
// at once, one is held.
func (l Ledger) Admit(r Release) error {
	return l.alone(func() error { return l.admit(r) })
}

func (l Ledger) admit(r Release) error {
	id := r.ID()
	switch done, err := l.is(id, Released); {
	case err != nil:
		return err
	case done:
		return nil
	}
	approved, err := l.is(id, Approved)
	if err != nil {
		return err
	}
	if !approved {
		if err := l.compare(r); err != nil {
			return err
		}
	}
	if err := l.write(r, Released); err != nil || !approved {
		return err
	}
	return l.remove(id, Approved)
}

// compare holds what differs from an earlier release.
func (l Ledger) compare(r Release) error {
	list, err := l.List()
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.State != Released {
			continue
		}
		earlier, err := l.read(e.ID, Released)
		if err != nil {
			return err
		}
		if said := r.Reveals(earlier); len(said) > 0 {
			if err := l.write(r, Held); err != nil {
				return err
			}
			return &HeldError{r.ID(), earlier.Job, said}
		}
	}
	return nil
}

// Entry is a release as an operator sees it.
type Entry struct {
	ID    string
	State State
	Release
	Reveals []string // of one that is held: what it would tell with an earlier one
}

var entryName = regexp.MustCompile(`^([0-9a-f]{16})\.(released|held|approved)$`)

// List returns all entries by their IDs, without what they hold.
func (l Ledger) List() ([]Entry, error) {
	files, err := os.ReadDir(string(l))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("release: %w", err)
	}
	var list []Entry
	for _, f := range files {
		if m := entryName.FindStringSubmatch(f.Name()); m != nil {
			list = append(list, Entry{ID: m[1], State: State(m[2])})
		}
	}
	return list, nil
}

// Read returns all entries with what they hold.
func (l Ledger) Read() ([]Entry, error) {
	list, err := l.List()
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Release, err = l.read(list[i].ID, list[i].State); err != nil {
			return nil, err
		}
	}
	for i := range list {
		if list[i].State == Released {
			continue
		}
		for _, e := range list {
			if e.State == Released {
				list[i].Reveals = append(list[i].Reveals, list[i].Release.Reveals(e.Release)...)
			}
		}
	}
	return list, nil
}

// ErrNotHeld says that there is nothing to approve.
var ErrNotHeld = errors.New("no such release is held; mercer release list shows those that are")

// Approve allows a release that is held.
func (l Ledger) Approve(id string) error {
	return l.alone(func() error { return l.approve(id) })
}

func (l Ledger) approve(id string) error {
	if held, err := l.is(id, Held); err != nil || !held {
		return errors.Join(err, ErrNotHeld)
	}
	r, err := l.read(id, Held)
	if err != nil {
		return err
	}
	if err := l.write(r, Approved); err != nil {
		return err
	}
	return l.remove(id, Held)
}

// lockName is a file in the folder; whoever changes the ledger holds its lock.
const lockName = "lock"

// alone does a change, in which what the ledger holds is read before it is
// written to, while no other goroutine and no other process does one: jobs run
// in the party's daemon, approvals come from a command.
func (l Ledger) alone(change func() error) error {
	if err := disk.MakeDir(string(l)); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	held, err := disk.WaitLock(filepath.Join(string(l), lockName))
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return errors.Join(change(), held.Close())
}

func (l Ledger) is(id string, s State) (bool, error) {
	_, err := os.Stat(l.path(id, s))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("release: %w", err)
	}
	return true, nil
}

func (l Ledger) read(id string, s State) (Release, error) {
	b, err := os.ReadFile(l.path(id, s))
	if err != nil {
		return Release{}, fmt.Errorf("release: %w", err)
	}
	r, err := Decode(b)
	if err == nil && r.ID() != id {
		err = errors.New("what it holds has another name")
	}
	if err != nil {
		return r, fmt.Errorf("release: %s: %w; restore it from a backup, since nothing is let out while the ledger cannot be read", l.path(id, s), err)
	}
	return r, nil
}

func (l Ledger) write(r Release, s State) error {
	if err := disk.Replace(l.path(r.ID(), s), r.Encode()); err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

func (l Ledger) remove(id string, s State) error {
	if err := os.Remove(l.path(id, s)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}
