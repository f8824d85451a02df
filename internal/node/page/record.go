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
// added, and the whole file if the file was replaced. After recordTime it checks the whole chain again in a goroutine,
// while the views use the lines that were read before. The zero record has read nothing.
type record struct {
	mu       sync.Mutex // held while lines are read, but not while a view is built from them
	last     *tail      // nil if nothing was read
	checked  time.Time  // when the whole chain was checked
	checking bool
}

// recordTime is the time after which the whole chain is checked again.
const recordTime = time.Minute

// tail follows the end of a record.
type tail struct {
	follower *audit.Follower
	file     os.FileInfo // size and time of the file at the last look
	read     reading
	subjects map[string]*subject
}

// reading holds the lines of a record that were read. Its entries are never changed, so several views use them at the
// same time.
type reading struct {
	entries []entry
	lines   int
	head    string
	broken  string // why the chain is broken, "" if it is whole
}

// entry is a line of the record that the view shows or counts.
type entry struct {
	audit.Event // the event without the fields that the view does not show or that the subject has
	*subject
}

// subject names the job, the table and the parties of a line. The lines of a job share one.
type subject struct {
	job, name, table, dictionary string
	parties                      []string
	text                         string // the other fields, in lower case
}

// lines returns what the record at a path says now.
func (k *record) lines(path string) (reading, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		k.last = nil
		return reading{}, nil
	case err != nil:
		return reading{}, fmt.Errorf("page: %w", err)
	case k.last == nil || k.last.other(info):
		k.checked = time.Now()
		k.last, err = readAll(path, info)
	case !sameState(k.last.file, info):
		k.last.file = info
		err = k.last.readOn()
	}
	if err != nil {
		k.last = nil // the next call reads the whole file
		return reading{}, err
	}
	if time.Since(k.checked) > recordTime && !k.checking {
		k.checking = true
		go k.check(path, info)
	}
	return k.last.read, nil
}

// check reads the whole record anew, while views use what was read before.
func (k *record) check(path string, info os.FileInfo) {
	last, err := readAll(path, info)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.checking, k.checked, k.last = false, time.Now(), last
	if err != nil {
		k.last = nil // the next call reads the whole file, and says what is wrong
	}
}

// readAll reads a record from its beginning.
func readAll(path string, info os.FileInfo) (*tail, error) {
	follower, _, err := audit.Follow(path, audit.Mark{})
	if err != nil {
		return nil, err
	}
	k := &tail{follower: follower, file: info, subjects: make(map[string]*subject)}
	return k, k.readOn()
}

// other reports whether the file is not the one that was read, or was changed in another way than by lines at its end.
func (k *tail) other(now os.FileInfo) bool {
	return !os.SameFile(k.file, now) || now.Size() < k.file.Size() || now.Size() == k.file.Size() && !sameState(k.file, now)
}

// sameState reports whether a file has not changed.
func sameState(a, b os.FileInfo) bool { return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) }

// readOn reads the lines that were added. A broken chain is no error.
func (k *tail) readOn() error {
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
	return err
}

// add keeps an event if the view shows or counts its kind. An outcome may quote what another member has sent, so it is
// kept only where this home has written it.
func (k *tail) add(e audit.Event) {
	kept := audit.Event{Kind: e.Kind, Time: e.Time, Session: e.Session, Stage: e.Stage, Releases: e.Releases, Sent: e.Sent, Skipped: e.Skipped, By: e.By, UID: e.UID, Alone: e.Alone}
	switch e.Kind {
	case audit.Rejected, audit.ReleaseRefused, audit.ReleaseWithdrawn, audit.BudgetSettled, audit.Erased, audit.Started:
		kept.Outcome = e.Outcome
	case audit.Released, audit.Ended, audit.Refused, audit.Approved, audit.ReleaseApproved, audit.Submitted, audit.Reloaded:
	default:
		return
	}
	k.read.entries = append(k.read.entries, entry{kept, k.subject(e)})
}

// subject returns the subject of an event, shared with earlier lines.
func (k *tail) subject(e audit.Event) *subject {
	text := strings.Join(append(slices.Clone(e.Parties), e.Job, e.Name, e.Table, e.Dictionary), " ")
	s := k.subjects[text]
	if s == nil || s.job != e.Job || s.name != e.Name || s.table != e.Table || s.dictionary != e.Dictionary || !slices.Equal(s.parties, e.Parties) {
		s = &subject{e.Job, e.Name, e.Table, e.Dictionary, e.Parties, strings.ToLower(text)}
		k.subjects[text] = s
	}
	return s
}
