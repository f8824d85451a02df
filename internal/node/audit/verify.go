package audit

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// BrokenError reports the first line that does not follow from the line before it.
type BrokenError struct {
	Path string
	Line int
	Why  string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("audit: %s:%d: %s; somebody has changed the record, or the disk is damaged: compare it with a backup", e.Path, e.Line, e.Why)
}

// Summary describes a record whose chain is whole.
type Summary struct {
	Lines int
	Head  string // hash of the last line; "" of an empty record
	Torn  int    // number of bytes of an unfinished last line
	Cut   int    // number of lines that were removed before the first one; Lines counts them, too
}

// Verify reads a record and checks its chain. It calls each, which may be nil, with every event and the
// hash of its line. It returns a *BrokenError for the first line that does not continue the chain. It
// changes nothing.
func Verify(path string, each func(e Event, hash string) error) (Summary, error) {
	s, err := readWhole(path, each)
	return Summary{s.lines, s.head, s.torn, s.cut}, err
}

// readWhole returns the end of a record. It returns the zero state if there is no record.
func readWhole(path string, each func(e Event, hash string) error) (s state, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("audit: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	err = s.follow(f, path, each)
	return s, err
}

// Found describes the record of a member that was restored from a backup.
type Found struct {
	Has      bool     // whether a line has the hash that was looked for
	Accepted bool     // whether the member has consented to any session
	Open     []string // jobs with a session that the member accepted, and whose end is in no line, in order; without those of an accepted loss
}

// Look looks for the line of a hash in a record, and for sessions without an end. It checks the chain like
// [Verify].
func Look(path, hash string) (f Found, err error) {
	type session struct{ job, id string }
	var open []session
	end, err := readWhole(path, func(e Event, own string) error {
		f.Has = f.Has || own == hash
		switch e.Kind {
		case Accepted:
			open = append(open, session{e.Job, e.Session})
		case Ended:
			open = slices.DeleteFunc(open, func(s session) bool { return s.id == e.Session })
		case Closed:
			open = slices.DeleteFunc(open, func(s session) bool { return s.job == e.Job })
		case LossAccepted:
			open = nil // a later restore need not ask about them again
		}
		return nil
	})
	f.Accepted = end.steps > 0 // counts removed lines, too; a job that was closed was accepted before
	for _, s := range open {
		if !slices.Contains(f.Open, s.job) {
			f.Open = append(f.Open, s.job)
		}
	}
	return f, err
}

// noise is the kind of the releases that privacy budgets pay.
const noise = "noise"

// Noise returns the IDs of the releases of noise that must be in the ledger: those that were made, and the notes of
// losses, since an operator last stated what unknown jobs have spent. It includes those of removed lines. A home
// without a record has no such releases.
func Noise(path string) ([]string, error) {
	s, err := readWhole(path, nil)
	return s.noise, err
}

// spend notes the noise that an event releases. If an operator has settled the budgets, it forgets all noise before.
func (s *state) spend(e Event) {
	switch e.Kind {
	case BudgetSettled:
		s.noise = nil
	case Released, LossAccepted, Cut:
	default:
		return
	}
	for _, r := range e.Releases {
		if r.Kind == noise && !slices.Contains(s.noise, r.ID) { // each session of a job names its release
			s.noise = append(s.noise, r.ID)
		}
	}
}

// follow reads lines that continue the chain.
func (s *state) follow(r io.Reader, path string, each func(Event, string) error) error {
	in := bufio.NewReaderSize(r, MaxLine+1)
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			s.torn = len(line)
			return nil
		case errors.Is(err, bufio.ErrBufferFull):
			return &BrokenError{path, s.lines + 1, fmt.Sprintf("the line is longer than %d bytes", MaxLine)}
		case err != nil:
			return fmt.Errorf("audit: %w", err)
		}
		if s.end == 0 && s.skipCut(line) {
			continue
		}
		e, why := s.check(line)
		if why != "" {
			return &BrokenError{path, s.lines + 1, why}
		}
		s.next(line, e.Kind)
		s.spend(e)
		if each != nil {
			if err := each(e, s.head); err != nil {
				return err
			}
		}
	}
}

// skipCut reports whether the first line says which lines were removed before it, and goes on after them.
func (s *state) skipCut(line []byte) bool {
	var e Event
	if json.Unmarshal(line, &e) != nil || e.Kind != Cut || e.Number < 1 || len(e.Previous) != 2*sha256.Size {
		return false
	}
	s.lines, s.head, s.cut, s.end = e.Number, e.Previous, e.Number, int64(len(line))
	s.steps, s.origin = e.Steps, e.Origin
	s.spend(e)
	return true
}

// check decodes the next line. It returns the reason if the line does not continue the chain.
func (s *state) check(line []byte) (e Event, why string) {
	if err := json.Unmarshal(line, &e); err != nil {
		return e, "the line is no event"
	}
	switch {
	case e.Number != s.lines+1:
		return e, fmt.Sprintf("the line has number %d, but the next number is %d", e.Number, s.lines+1)
	case e.Previous != s.head:
		return e, "the line does not have the hash of the line before it: one of the two was changed, or one between them is gone"
	}
	return e, ""
}
