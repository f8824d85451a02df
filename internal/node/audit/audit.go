// Package audit keeps a member's record of what it has consented to, what has left it, and who
// decided. An operator shows it to a data protection officer.
//
//	log, err := audit.Open(home + "/audit")
//	err = log.Append(audit.Event{Kind: audit.Accepted, Job: id})
//
// The record is a file to which lines are added. A line is an event in
// JSON, with the SHA-256 of the line before it. So a line in the middle cannot be changed or removed
// without a break of the chain. Only [Log.Cut] removes lines, the oldest ones: a first line then has the number
// and the hash of the last line that is gone, so the chain goes on, and a head of any later line stays valid.
// Somebody who can write the file can compute the whole chain anew, or cut off its end. Only a hash of the last
// line that was written down elsewhere, the head, reveals this.
//
// A line is on the disk before [Log.Append] returns. A crash may leave a part of the last line, which
// nobody relied upon: the next Append cuts it off, and its line says so.
package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk"
	"github.com/mercer-fl/mercer/internal/node/access"
)

// Kind names the sort of an event.
type Kind string

// These are the kinds of events.
const (
	Accepted  Kind = "accepted"  // the member consented to a session; written before the consent is sent
	Refused   Kind = "refused"   // the member refused a proposal
	Released  Kind = "released"  // data leave the member; written before the first message that has them
	Ended     Kind = "ended"     // a session ended at this member
	Closed    Kind = "closed"    // the member destroyed its secrets of a job
	Submitted Kind = "submitted" // somebody submitted a job to the coordinator
	Approved  Kind = "approved"  // an operator approved a job
	Rejected  Kind = "rejected"  // an operator rejected a job
	Erased    Kind = "erased"    // the member erased what a finished job had left, or old lines of this record
	Withdrawn Kind = "withdrawn" // an operator withdrew people from a table
	Reloaded  Kind = "reloaded"  // an operator had the configuration and the roster read again
	Started   Kind = "started"   // the daemon started
	Cut       Kind = "cut"       // the first line of a record whose earlier lines were removed; it is no part of the chain

	ReleaseApproved  Kind = "release approved"  // an operator approved a release that awaited approval in the ledger
	ReleaseRefused   Kind = "release refused"   // an operator refused such a release
	ReleaseWithdrawn Kind = "release withdrawn" // an operator withdrew a release that awaited approval, or its approval

	BudgetSettled Kind = "budget settled" // an operator stated what unknown jobs have spent of the privacy budgets

	Restored     Kind = "restored"      // a home restored from a backup continues: the coordinator has seen no later line of its record
	LossAccepted Kind = "loss accepted" // an operator lets a restored home continue although its backup may be old
)

// Event is a line of the record. Number, Time, Previous and Torn are set by [Log.Append].
type Event struct {
	Number   int       `json:"number"` // number of the line, from 1
	Time     time.Time `json:"time"`
	Previous string    `json:"previous"`       // SHA-256 of the line before, or "" in the first line
	Torn     int       `json:"torn,omitempty"` // bytes of an unfinished line that were cut off before this one
	Kind     Kind      `json:"event"`

	Job        string    `json:"job,omitempty"`
	Name       string    `json:"name,omitempty"`
	Spec       string    `json:"specification,omitempty"` // SHA-256 of the job file in its canonical form
	Dictionary string    `json:"dictionary,omitempty"`    // name and SHA-256 of the dictionary
	Study      string    `json:"study,omitempty"`         // name and SHA-256 of the study
	Table      string    `json:"table,omitempty"`
	Parties    []string  `json:"parties,omitempty"`
	Roster     string    `json:"roster,omitempty"` // SHA-256 of the roster in force
	Policy     string    `json:"policy,omitempty"` // SHA-256 of the policy in force
	Session    string    `json:"session,omitempty"`
	Stage      string    `json:"stage,omitempty"`
	Releases   []Release `json:"releases,omitempty"` // releases of the session, or those that an operator decided about or stated
	Sent       int64     `json:"bytes_sent,omitempty"`
	Received   int64     `json:"bytes_received,omitempty"`
	Outcome    string    `json:"outcome,omitempty"` // "done", the reason of a failure, refusal or rejection, what was erased or stated, or what else the kind says
	Skipped    int       `json:"skipped,omitempty"` // refusals before this one that have no line, since they were too many
	UID        *int      `json:"uid,omitempty"`     // in lines of earlier versions, the Unix user who decided or accepted a loss

	By        *access.Person `json:"by,omitempty"`        // who submitted or decided
	Submitter *access.Person `json:"submitter,omitempty"` // who submitted the job, as its coordinator says
	Alone     bool           `json:"alone,omitempty"`     // the approver may be the submitter; the home's setting "roles" allows it, or its owner approved

	// A line about removed lines has the Tip of the record before the next line, without its hash. Its Releases are those
	// of noise that must be in the ledger, because removing old lines does not give a spent budget back.
	Steps  int    `json:"steps,omitempty"`
	Origin string `json:"origin,omitempty"`
}

// Release is a part of the member's data, under its ID in the ledger of releases.
type Release struct {
	Kind    string  `json:"kind"`
	ID      string  `json:"id"`
	Epsilon float64 `json:"epsilon,omitempty"` // for noise, with Delta: the guarantee of the job, or what an operator has stated
	Delta   float64 `json:"delta,omitempty"`
}

// Discard is a record that keeps nothing, for a process that plays all members with its own data.
type Discard struct{}

// Append does nothing.
func (Discard) Append(Event) error { return nil }

// MaxLine bounds the bytes of a line with its line break. A longer event is an error.
const MaxLine = 1 << 16

// Log is a member's record. It is safe for concurrent use, and other processes can add lines.
type Log struct {
	mu    sync.Mutex
	path  string
	file  os.FileInfo // the file that was read last
	state state
}

// state is the end of the record as far as it was read.
type state struct {
	lines int
	head  string
	end   int64
	torn  int // number of bytes behind the last line break
	cut   int // number of lines that were removed before the first one

	// steps and origin are Steps and Origin of the Tip.
	steps  int
	origin string

	// noise has the IDs that [Noise] returns, as far as follow has read the lines.
	noise []string
}

// Open reads the record, and checks it. It begins a new one if there is none.
func Open(path string) (*Log, error) {
	l := &Log{path: path}
	return l, l.alone(func(f *os.File) error { return l.read(f) })
}

// Append adds an event and returns when it is on the disk. After an error the event may or may not be
// in the record.
func (l *Log) Append(e Event) error {
	return l.alone(func(f *os.File) error {
		if err := l.read(f); err != nil {
			return err
		}
		return l.add(f, e)
	})
}

// add adds an event to a record that was read to its end.
func (l *Log) add(f *os.File, e Event) error {
	e.Number, e.Time, e.Previous, e.Torn = l.state.lines+1, time.Now().UTC(), l.state.head, l.state.torn
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if len(line) >= MaxLine {
		return fmt.Errorf("audit: an event takes %d bytes; it must take fewer than %d", len(line), MaxLine)
	}
	if l.state.torn > 0 {
		if err := f.Truncate(l.state.end); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
	}
	line = append(line, '\n')
	if _, err = f.WriteAt(line, l.state.end); err == nil {
		err = f.Sync()
	}
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	l.state.next(line, e.Kind)
	return nil
}

// Tip is the part of a record's end that other members learn. Two tips with the same Origin are of one history, and the
// one with more Steps is the later one.
type Tip struct {
	Head   string // hash of the last line; "" of an empty record
	Steps  int    // number of lines that say that the member consented to a session or closed a job
	Origin string // hash of the line with which the history begins: the first one, or the last that accepts a loss
}

// Tip returns the end of the record. It does not have the number of lines, which would tell how often people were
// withdrawn, for example. The coordinator knows of each step anyway.
func (l *Log) Tip() Tip {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Tip{l.state.head, l.state.steps, l.state.origin}
}

// Torn returns the number of bytes of an unfinished line, which the next line replaces.
func (l *Log) Torn() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state.torn
}

// alone runs do with the file, which no other process changes meanwhile.
func (l *Log) alone(do func(*os.File) error) (err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, missing := os.Stat(l.path)
	f, err := lockCurrent(l.path)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if errors.Is(missing, fs.ErrNotExist) {
		if err := disk.SyncDir(filepath.Dir(l.path)); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
	}
	return do(f)
}

// lockCurrent locks the file at a path. If another process replaces the file before it is locked, lockCurrent locks
// the new file.
func lockCurrent(path string) (*os.File, error) {
	for {
		f, err := disk.WaitLock(path)
		if err != nil {
			return nil, err
		}
		locked, err := f.Stat()
		if err == nil {
			var now os.FileInfo
			if now, err = os.Stat(path); err == nil && os.SameFile(locked, now) {
				return f, nil
			}
		}
		if closed := f.Close(); closed != nil || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, closed)
		}
	}
}

// read reads the lines that were added since the last call. If another process has cut the record, it reads the new
// file, which must have the line that was the last.
func (l *Log) read(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	file, was := l.file, l.state
	before, replaced := Mark{was.lines, was.head}, file != nil && !os.SameFile(info, file)
	if replaced {
		l.state = state{}
	}
	if info.Size() < l.state.end {
		return fmt.Errorf("audit: %s has become shorter, by %d bytes; restore it from a backup", l.path, l.state.end-info.Size())
	}
	l.file, l.state.torn = info, 0
	goesOn := !replaced || before.Number == 0
	err = l.state.follow(io.NewSectionReader(f, l.state.end, info.Size()-l.state.end), l.path, func(_ Event, hash string) error {
		goesOn = goesOn || before == Mark{l.state.lines, hash}
		return nil
	})
	if err == nil && !goesOn {
		l.file, l.state = file, was
		return fmt.Errorf("audit: %s is another record than before; restore it from a backup", l.path)
	}
	return err
}

func (s *state) next(line []byte, kind Kind) {
	s.lines, s.head, s.end, s.torn = s.lines+1, hashOf(line), s.end+int64(len(line)), 0
	if s.lines == 1 || kind == LossAccepted {
		s.origin = s.head
	}
	if kind == Accepted || kind == Closed {
		s.steps++
	}
}

// hashOf returns the hash of a line, without its line break.
func hashOf(line []byte) string {
	sum := sha256.Sum256(bytes.TrimSuffix(line, []byte("\n")))
	return hex.EncodeToString(sum[:])
}
