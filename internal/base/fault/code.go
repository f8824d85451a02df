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
	// Public, if set, is the text that peers are told instead: the error itself names
	// files or quotes values of somebody's data.
	Public string
}

// Reason returns the part of an error that a peer may be told.
func Reason(err error) string {
	var coded *Error
	if errors.As(err, &coded) && coded.Public != "" {
		return coded.Public
	}
	var discreet interface{ Public() string }
	if errors.As(err, &discreet) {
		return discreet.Public()
	}
	return err.Error()
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// BadInput marks err as the job file's or the data's fault.
func BadInput(err error) error { return &Error{Code: CodeBadInput, Err: err} }

// BadInputf words an error that is the job file's or the data's fault, as [fmt.Errorf] does.
func BadInputf(format string, args ...any) error { return BadInput(fmt.Errorf(format, args...)) }

// Forbidden marks err as an operator's refusal.
func Forbidden(err error) error { return &Error{Code: CodePolicy, Err: err} }

// Forbiddenf words an operator's refusal, as [fmt.Errorf] does.
func Forbiddenf(format string, args ...any) error { return Forbidden(fmt.Errorf(format, args...)) }

// ErrInput matches errors whose cause is somebody's data or settings. Machines give it as
// protocol.ErrInput.
var ErrInput = errors.New("protocol: the members' data or settings do not go together")

// Blame is an error that names a peer, such as protocol.BlameError.
type Blame interface {
	error
	Silent() bool     // the peer did not answer in time
	Misbehaved() bool // the peer broke the protocol
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
