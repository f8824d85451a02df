package page

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/node/audit"
)

// record is the audit record in memory, as far as the view shows it. All views share it. It reads the lines that were
// added; after a while, or when the file is another one, it reads the whole file again and checks its chain. The zero
// record has read nothing.
type record struct {
	mu       sync.Mutex // held while lines are read, not while a view is built from them
	follower *audit.Follower
	file     os.FileInfo // as it was at the last look
	begun    time.Time   // when the file was last read from its beginning
	read     reading
	subjects map[string]*subject
}

// recordTime is the time after which the whole chain is checked again.
const recordTime = time.Minute

// reading is what was read of a record. Its entries are never changed, so several views use them at a time.
type reading struct {
	entries []entry
	lines   int
	head    string
	broken  string // why the chain is broken, "" if it is whole
}

// entry is a line of the record that the view shows or counts.
type entry struct {
	audit.Event // without what the view does not show, and what is in the subject
	*subject
}

// subject is what a line is about. The lines of a job share one.
type subject struct {
	job, name, table, dictionary string
	parties                      []string
	text                         string // all of this in lower case
}

// lines returns what the record at a path says now.
func (k *record) lines(path string) (reading, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		k.follower, k.read = nil, reading{}
		return k.read, nil
	}
	if err != nil {
		return reading{}, fmt.Errorf("page: %w", err)
	}
	if k.other(info) {
		if k.follower, _, err = audit.Follow(path, audit.Mark{}); err != nil {
			return reading{}, err
		}
		k.read, k.subjects, k.begun = reading{}, make(map[string]*subject), time.Now()
	} else if sameState(k.file, info) {
		return k.read, nil
	}
	k.file = info
	err = k.readOn()
	return k.read, err
}

// other reports whether the file has to be read from its beginning.
func (k *record) other(now os.FileInfo) bool {
	return k.follower == nil || time.Since(k.begun) > recordTime || !os.SameFile(k.file, now) || now.Size() < k.file.Size() ||
		now.Size() == k.file.Size() && !sameState(k.file, now)
}

// sameState reports whether a file has not changed.
func sameState(a, b os.FileInfo) bool { return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) }

// readOn reads the lines that were added.
func (k *record) readOn() error {
	err := k.follower.Read(func(m audit.Mark, e audit.Event) error {
		k.read.lines, k.read.head = m.Number, m.Hash
		k.add(e)
		return nil
	})
	var broken *audit.BrokenError
	if errors.As(err, &broken) {
		k.read.broken = fmt.Sprintf("line %d: %s", broken.Line, broken.Why)
		return nil
	}
	if err != nil {
		k.follower = nil // the next call reads the whole file
	}
	return err
}

// add keeps an event if the view shows or counts its kind.
func (k *record) add(e audit.Event) {
	switch e.Kind {
	case audit.Released, audit.Ended, audit.Refused, audit.Approved, audit.Rejected:
		kept := audit.Event{Kind: e.Kind, Time: e.Time, Session: e.Session, Releases: e.Releases, Sent: e.Sent, Skipped: e.Skipped, By: e.By, UID: e.UID, Alone: e.Alone}
		if e.Kind == audit.Rejected {
			kept.Outcome = e.Outcome
		}
		k.read.entries = append(k.read.entries, entry{kept, k.subject(e)})
	}
}

// subject returns what an event is about.
func (k *record) subject(e audit.Event) *subject {
	text := strings.Join(append(slices.Clone(e.Parties), e.Job, e.Name, e.Table, e.Dictionary), " ")
	s := k.subjects[text]
	if s == nil || s.job != e.Job || s.name != e.Name || s.table != e.Table || s.dictionary != e.Dictionary || !slices.Equal(s.parties, e.Parties) {
		s = &subject{e.Job, e.Name, e.Table, e.Dictionary, e.Parties, strings.ToLower(text)}
		k.subjects[text] = s
	}
	return s
}
