package fault

import (
	"context"
	"errors"
	"fmt"
)

// Code classifies a failure, in the terms of the exit codes.
type Code uint8

// The codes; their numbers are the program's exit codes.
const (
	CodeDone       Code = 0
	CodeFailed     Code = 1
	CodeBadInput   Code = 2 // the job file or the data
	CodePolicy     Code = 3 // refused by an operator's policy
	CodeMisbehaved Code = 4 // a named peer broke the protocol
	CodeTimedOut   Code = 5 // a named peer did not answer
	numCodes            = 6
)

// Known reports whether c is one of the codes above.
func (c Code) Known() bool { return c < numCodes }

// Error is an error that carries its code.
type Error struct {
	Code   Code
	Blamed string // the peer at fault, or ""
	Err    error
	// Trouble, if set, is all that peers are told: the error itself names files or quotes
	// values of somebody's data.
	Trouble Trouble
	// Public, if set, is a text that peers are told instead. It is made of what they know:
	// the job, the policy's answer to it, the members' names.
	Public string
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// BadInput marks err as the job file's or the data's fault.
func BadInput(err error) error { return &Error{Code: CodeBadInput, Err: err} }

// BadInputf words an error that is the job file's or the data's fault, as [fmt.Errorf] does.
func BadInputf(format string, args ...any) error { return BadInput(fmt.Errorf(format, args...)) }

// Forbidden marks err as an operator's refusal.
func Forbidden(err error) error { return &Error{Code: CodePolicy, Err: err} }

// Forbiddenf words an operator's refusal of a job, as [fmt.Errorf] does. Peers are told all of it:
// it is made of the job and of the policy, and of no row.
func Forbiddenf(format string, args ...any) error {
	return Openly(Forbidden(fmt.Errorf(format, args...)))
}

// Openly marks err as one whose whole text peers may read. It is made of what they know, such as
// the job and the members' names, and of no row.
func Openly(err error) error {
	if err == nil {
		return nil
	}
	return &open{err}
}

// open is an error whose whole text peers may read. Its code is its cause's.
type open struct{ error }

func (e *open) Unwrap() error  { return e.error }
func (e *open) Public() string { return e.Error() }

// Openf words an error that peers may read, as [fmt.Errorf] does.
func Openf(format string, args ...any) error { return Openly(fmt.Errorf(format, args...)) }

// ErrInput matches errors whose cause is somebody's data or settings. Machines give it as
// protocol.ErrInput.
var ErrInput = errors.New("protocol: the members' data or settings do not go together")

// Blame is an error that names a peer, such as protocol.BlameError.
type Blame interface {
	error
	Silent() bool     // the peer did not answer in time
	Misbehaved() bool // the peer broke the protocol
	Public() string   // the part of it that others may be told
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
