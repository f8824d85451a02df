package disclosure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/method"
)

// Listed is a release as an operator sees it.
type Listed struct {
	ID       string
	State    State
	Kind     method.ReleaseKind
	Also     []method.ReleaseKind // what the job lets out beside it
	Job      string
	Question bool
	Peers    []string
	Columns  int
	Rows     int
	Uses     int
	Reveals  []string // of one that is held or approved: what it would tell with earlier ones
	Since    time.Time
}

// Bounds on what refused proposals leave: a coordinator can propose any number.
const (
	maxHeld   = 4                   // of one kind to the same peers
	maxNotes  = 64                  // in all
	noteKept  = 30 * 24 * time.Hour // then it is forgotten, and held again when it comes again
	maxSaid   = 64                  // sentences
	maxPhrase = 4 << 10             // bytes of a sentence
)

const (
	noteMagic     = "mercer/v1/held release"
	noteAlsoMagic = "mercer/v2/held release" // names what is let out beside it, too
)

func (n Listed) encode() []byte {
	var w wire.Writer
	if len(n.Also) > 0 {
		w.String(noteAlsoMagic)
		w.Strings(texts(n.Also))
	} else {
		w.String(noteMagic)
	}
	w.String(string(n.Kind))
	w.String(n.Job)
	w.Bool(n.Question)
	w.Strings(n.Peers)
	w.Uint32(uint32(n.Columns))
	w.Uint32(uint32(n.Rows))
	w.Uint64(uint64(n.Since.Unix()))
	said := n.Reveals[:min(len(n.Reveals), maxSaid)]
	w.Uint32(uint32(len(said)))
	for _, s := range said {
		w.Bytes32([]byte(s[:min(len(s), maxPhrase)]))
	}
	return w.Bytes()
}

func decodeNote(b []byte) (Listed, error) {
	r := wire.NewReader(b)
	var n Listed
	switch magic := r.String(32); {
	case magic == noteAlsoMagic:
		n.Also = readAlso(r)
	case r.Err() == nil && magic != noteMagic:
		r.Fail(fmt.Errorf("not a release that is held but %q", magic))
	}
	n.Kind, n.Job, n.Question = method.ReleaseKind(r.String(32)), r.String(maxText), r.Bool()
	n.Peers = r.Strings(maxPeers, maxText)
	n.Columns, n.Rows = int(r.Uint32()), int(r.Uint32())
	n.Since = time.Unix(int64(r.Uint64()), 0)
	for range r.Count(maxSaid, 4) {
		n.Reveals = append(n.Reveals, string(r.Bytes32(maxPhrase)))
	}
	return n, r.Close("held release")
}

// notes returns the releases that wait for the operator, or may pass next, oldest first. A
// note that is too old or cannot be read is removed: without it a release is held.
func (l Ledger) notes() ([]Listed, error) {
	names, err := l.names()
	if err != nil {
		return nil, err
	}
	var notes []Listed
	for _, name := range names {
		m := noteName.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		path := filepath.Join(string(l), name)
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("release: %w", err)
		}
		n, err := decodeNote(b)
		if err != nil || time.Since(n.Since) > noteKept {
			if err := l.remove(path); err != nil {
				return nil, err
			}
			continue
		}
		n.ID, n.State = m[1], State(m[2])
		notes = append(notes, n)
	}
	slices.SortStableFunc(notes, func(a, b Listed) int { return a.Since.Compare(b.Since) })
	return notes, nil
}

// List returns all releases: those let out or admitted, and then those that wait.
func (l Ledger) List() ([]Listed, error) {
	var list []Listed
	err := l.each(func(s State, _ string, e *Entry) {
		list = append(list, Listed{
			ID: e.ID(), State: s, Kind: e.Kind, Also: e.Also, Job: e.Job, Question: e.Question, Peers: e.Peers,
			Columns: e.Width, Rows: len(e.Rows), Uses: len(e.Uses),
		})
	})
	if err != nil {
		return nil, err
	}
	notes, err := l.notes()
	return append(list, notes...), err
}

// ErrNotHeld reports that there is nothing to approve.
var ErrNotHeld = errors.New("no such release is held; mercer release list shows those that are")

// ErrNotThere reports that there is nothing to withdraw.
var ErrNotThere = errors.New("no such release is held or approved; mercer release list shows those that are, and what is out cannot be called back")

// Approve allows a held release to any job that lets out equal content, until it is
// out or the approval is 30 days old.
func (l Ledger) Approve(id string) error {
	return l.alone(func() error {
		n, err := l.find(id, Held)
		if err != nil {
			return err
		}
		n.Since = time.Now()
		if err := l.write(l.note(id, Approved), n.encode()); err != nil {
			return err
		}
		return l.remove(l.note(id, Held))
	})
}

// Withdraw takes back an approval that no session has used, or forgets a release that
// is held.
func (l Ledger) Withdraw(id string) error {
	return l.alone(func() error {
		for _, s := range []State{Held, Approved} {
			if _, err := l.find(id, s); err == nil {
				return l.remove(l.note(id, s))
			}
		}
		return ErrNotThere
	})
}

func (l Ledger) find(id string, s State) (Listed, error) {
	notes, err := l.notes()
	if err != nil {
		return Listed{}, err
	}
	for _, n := range notes {
		if n.ID == id && n.State == s {
			return n, nil
		}
	}
	return Listed{}, ErrNotHeld
}
