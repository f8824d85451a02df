package fault

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
)

// Code classifies a failure. Its number is the program's exit code.
type Code uint8

// These are the codes. CodeFailed stands for every failure that no other code describes.
const (
	CodeDone       Code = 0
	CodeFailed     Code = 1
	CodeBadInput   Code = 2 // the job file or the data caused the failure
	CodePolicy     Code = 3 // an operator's policy refused the job
	CodeMisbehaved Code = 4 // a peer broke the protocol
	CodeTimedOut   Code = 5 // a peer did not answer in time, or another time limit has passed
	numCodes            = 6
)

// Known reports whether c is one of the codes above.
func (c Code) Known() bool { return c < numCodes }

// Error is an error that carries its code.
type Error struct {
	Code   Code
	Blamed string // name of the blamed peer, or ""
	Err    error
	// Trouble, if set, is the only text that peers are allowed to read, because the error itself names files
	// or quotes somebody's data.
	Trouble Trouble
	// Public, if set, is the text that peers read instead of the error. It contains only facts
	// that peers know: the job, the policy's decision about the job, and the members' names.
	Public string
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// BadInput marks err as an error that the job file or the data caused.
func BadInput(err error) error { return &Error{Code: CodeBadInput, Err: err} }

// BadInputf returns an error that the job file or the data caused. It formats like [fmt.Errorf].
func BadInputf(format string, args ...any) error { return BadInput(fmt.Errorf(format, args...)) }

// Forbidden marks err as an operator's refusal.
func Forbidden(err error) error { return &Error{Code: CodePolicy, Err: err} }

// Forbiddenf returns an operator's refusal of a job. It formats like [fmt.Errorf]. Peers can read
// the whole text, so it must contain only facts about the job and the policy, and none about a row.
func Forbiddenf(format string, args ...any) error {
	return Public(Forbidden(fmt.Errorf(format, args...)))
}

// Public marks err as an error whose whole text peers are allowed to read. The text must contain only facts
// that peers know, such as the job and the members' names, and none about a row.
func Public(err error) error {
	if err == nil {
		return nil
	}
	return &open{err}
}

// open is an error whose whole text peers are allowed to read. It has the code of the wrapped error.
type open struct{ error }

func (e *open) Unwrap() error  { return e.error }
func (e *open) Public() string { return e.Error() }

// Publicf returns an error whose text peers are allowed to read. It formats like [fmt.Errorf].
func Publicf(format string, args ...any) error { return Public(fmt.Errorf(format, args...)) }

// ErrInput matches errors whose cause is a member's data or settings. Protocols use it as
// protocol.ErrInput.
var ErrInput = errors.New("protocol: the members' data or settings contradict each other")

// Blame is an error that names a peer, such as protocol.BlameError.
type Blame interface {
	error
	Silent() bool     // the peer did not answer in time
	Misbehaved() bool // the peer broke the protocol
	Public() string   // the part of the error that other peers are allowed to read
}

// CodeOf finds the code of an error.
func CodeOf(err error) Code {
	var coded *Error
	var blame Blame
	switch {
	case err == nil:
		return CodeDone
	case errors.As(err, &coded):
		return coded.Code
	case errors.Is(err, ErrInput):
		return CodeBadInput
	case errors.As(err, &blame) && blame.Silent(), errors.Is(err, context.DeadlineExceeded):
		return CodeTimedOut
	case blame != nil && blame.Misbehaved():
		return CodeMisbehaved
	}
	return CodeFailed
}

// Notice is the part of an error that other members are allowed to read.
type Notice struct {
	Code    Code
	Trouble Trouble // reason from the closed list, if Text is empty
	Text    string  // a sentence that consists of public facts
}

// maxNotice is the greatest length of a notice's text in bytes.
const maxNotice = 1 << 10

// NoticeOf returns the part of an error that other members are allowed to read. If the error does not state that
// part, the notice names only the kind of the error, because the error's text can quote a cell, a
// path or another member's message.
func NoticeOf(err error) Notice {
	n := Notice{Code: CodeOf(err)}
	if err == nil {
		return n
	}
	if n.Trouble, n.Text = publicPart(err); n.Text != "" {
		n.Text = Printable(n.Text)
	} else if n.Trouble == NoTrouble {
		n.Trouble = n.Code.trouble()
	}
	return n
}

// publicPart returns the part of an error that peers are allowed to read: its trouble or its text. It takes
// the first wrapped error, from the outermost inwards, that has one of the two.
func publicPart(err error) (Trouble, string) {
	if e, coded := err.(*Error); coded && (e.Trouble != NoTrouble || e.Public != "") { //nolint:errorlint // the outermost part, and no inner one
		return e.Trouble, e.Public
	}
	if e, discreet := err.(interface{ Public() string }); discreet {
		return NoTrouble, e.Public()
	}
	switch e := err.(type) { //nolint:errorlint // it unwraps by itself
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return publicPart(inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if trouble, text := publicPart(inner); trouble != NoTrouble || text != "" {
				return trouble, text
			}
		}
	}
	return NoTrouble, ""
}

// trouble returns the trouble that a notice states if the error itself states none.
func (c Code) trouble() Trouble {
	switch c {
	case CodeBadInput:
		return Data
	case CodePolicy:
		return Refused
	case CodeMisbehaved:
		return Broken
	case CodeTimedOut:
		return Late
	}
	return Unsaid
}

// Sentence returns the notice as text for logs and terminals. It replaces control characters in a
// peer's text by blanks and limits the length of the text.
func (n Notice) Sentence() string {
	if n.Trouble != NoTrouble {
		return n.Trouble.Sentence()
	}
	return Printable(n.Text)
}

// Printable returns a text as one line of limited length, without control characters for terminals.
func Printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	if len(s) <= maxNotice {
		return s
	}
	return strings.ToValidUTF8(s[:maxNotice], "")
}

// Trouble is a reason why a member cannot continue, from a closed list. Members send each other one
// of these reasons instead of an error's text, because the error of code that has read a row can
// quote the row. Each reason has one sentence. The details are only in the log of the member with
// the trouble.
type Trouble uint8

// The troubles. Messages and journals hold the number of a trouble: add a new trouble at the end.
const (
	NoTrouble  Trouble = iota
	Unsaid             // any error without its own trouble
	Refused            // an operator's policy refuses the job, and peers must not read the reason
	Data               // data is unusable for a reason that no other trouble describes
	Magnitude          // a number is too large
	NotFinite          // NaN or infinity
	Gap                // an empty cell
	Inexact            // a fraction in a column that was declared as whole numbers
	TooFewRows         // fewer rows than a policy's limits require
	Labels             // labels or classes do not suit the job
	Columns            // a problem in scaling or preparing columns
	Schema             // a problem in preparing a table by the job's schema
	Names              // a problem with names of columns or classes
	Offer              // the job names labels, ids or columns that a catalogue does not offer
	Changed            // a member's rows have changed since the session started
	Diverged           // a replay differs from the journal
	Disk               // a journal cannot be written
	Ledger             // a ledger cannot be read or written
	Kept               // retained state of an earlier job cannot be read
	Lost               // a journal is lost
	Restarted          // a restart has ended a session
	Dropped            // an operator, or a time limit, has ended the job
	Late               // a member, which is not named, did not answer in time
	Broken             // a member, which is not named, broke the protocol
	Approval           // an operator has not yet decided about the job
	numTroubles
)

// about describes one trouble by its code and its sentence.
type about struct {
	code     Code
	sentence string
}

func (t Trouble) about() about {
	return [numTroubles]about{
		NoTrouble:  {CodeFailed, ""},
		Unsaid:     {CodeFailed, "it cannot go on; its own log says why"},
		Refused:    {CodePolicy, "its operator's policy does not allow this; its own log says why"},
		Data:       {CodeBadInput, "its data cannot be used for this job; its own log says why"},
		Magnitude:  {CodeBadInput, "its table holds a number that is too large for this job; its own log says where"},
		NotFinite:  {CodeBadInput, "its table holds a value that is no finite number; its own log says where"},
		Gap:        {CodeBadInput, "its table has an empty cell; its own log says where"},
		Inexact:    {CodeBadInput, "its table holds a fraction in a column of whole numbers; its own log says where"},
		TooFewRows: {CodePolicy, "its table has fewer rows than its operator's policy requires; its own log says which limit"},
		Labels:     {CodeBadInput, "its labels do not suit the job; its own log says why"},
		Columns:    {CodeBadInput, "its columns cannot be prepared or scaled; its own log says why"},
		Schema:     {CodeBadInput, "its table cannot be prepared by the job's schema; its own log says why"},
		Names:      {CodeBadInput, "the names of its columns or classes do not match the others'; its own log says why"},
		Offer:      {CodePolicy, "the job names labels, ids or columns that its catalogue does not offer to jobs; its own log says which"},
		Changed:    {CodeBadInput, "its data has changed since this session began; the session is aborted, submit the job again"},
		Diverged:   {CodeFailed, "its replay of the session differs from its journal; the session is aborted, submit the job again"},
		Disk:       {CodeFailed, "it cannot write its journal; its own log says why"},
		Ledger:     {CodeFailed, "it cannot use its ledger; its own log says why"},
		Kept:       {CodeFailed, "it cannot read the retained state of the earlier job; its own log says why"},
		Lost:       {CodeFailed, "the party lost its journal of the session; submit the job again"},
		Restarted:  {CodeFailed, "the party was restarted and cannot continue the session; try again"},
		Dropped:    {CodeFailed, "the party's operator, or its time limit, has ended the job there"},
		Late:       {CodeTimedOut, "another member did not answer in time; its own log says which"},
		Approval:   {CodePolicy, "the job awaits its operator's approval; if that takes longer, submit the job again with a longer time limit, such as \"timeout: {join: 72h}\""},
		Broken:     {CodeMisbehaved, "another member broke the protocol; its own log says how"},
	}[t]
}

// Known reports whether t is one of the troubles above.
func (t Trouble) Known() bool { return t < numTroubles }

// Sentence returns the text that every member is allowed to read. It is empty for no trouble.
func (t Trouble) Sentence() string { return t.about().sentence }

// Of marks an error as having this trouble.
func (t Trouble) Of(err error) error {
	if err == nil {
		return nil
	}
	return &Error{Code: t.about().code, Err: err, Trouble: t}
}

// Errorf returns an error with this trouble. It formats like [fmt.Errorf]. Only the member's own
// log shows the text.
func (t Trouble) Errorf(format string, args ...any) error { return t.Of(fmt.Errorf(format, args...)) }

// OfNumber returns NotFinite for NaN and infinities, and Magnitude for any other number. Protocols
// call it for numbers that they refuse.
func OfNumber(x float64) Trouble {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return NotFinite
	}
	return Magnitude
}
