package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/protocol"
)

// Exit codes of the program.
const (
	Done        = 0
	Failed      = 1
	Usage       = 2 // the arguments, the job file, the data or another input are wrong
	Refused     = 3 // a policy refused the action, or nobody confirmed it
	Misbehaved  = 4 // a peer misbehaved; the message names the peer
	TimedOut    = 5
	interrupted = Failed
)

// Codes of errors in JSON. Each exit code except Done has one or more.
const (
	codeFailed      = "failed"
	codeInterrupted = "interrupted"
	codeUsage       = "usage"
	codeBadJob      = "bad_job"
	codeBadData     = "bad_data"
	codeBadInput    = "bad_input" // a home, a file or another input is wrong, as this process or another one reports
	codeRefused     = "refused"
	codeMisbehaved  = "peer_misbehaved"
	codeTimedOut    = "timed_out"
)

// Error is an error of a command, with the exit code of the process.
type Error struct {
	Code string // code for programs, such as "bad_data"
	Hint string // advice in addition to the message; can be empty
	Exit int
	Err  error
	// Result holds what the command found before the error, or nil.
	Result Result
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// usage returns an error about the arguments.
func usage(format string, args ...any) *Error {
	return &Error{Code: codeUsage, Exit: Usage, Err: fmt.Errorf(format, args...)}
}

// badJob returns the error that a job cannot run here although its file has no mistake.
func badJob(err error) *Error { return &Error{Code: codeBadJob, Exit: Usage, Err: err} }

// refused returns the error that a policy forbids an action, or that nobody has confirmed it.
func refused(err error, hint string) *Error {
	return &Error{Code: codeRefused, Exit: Refused, Err: err, Hint: hint}
}

// classify returns an error with exit code for any error of a command.
func classify(err error) *Error {
	var (
		known  *Error
		blame  *protocol.BlameError
		badJob *job.Error
		notNow *catalogue.Error
		syntax *dataset.SyntaxError
		coded  *fault.Error
	)
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &badJob):
		return &Error{Code: codeBadJob, Exit: Usage, Err: err}
	case errors.As(err, &notNow), errors.As(err, &syntax):
		return &Error{Code: codeBadData, Exit: Usage, Err: err}
	case errors.As(err, &coded):
		return errorOfSession(coded.Code, err)
	case errors.As(err, &blame):
		return blamedError(blame.Kind, err)
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: codeTimedOut, Exit: TimedOut, Err: err}
	case errors.Is(err, context.Canceled): // interrupted by a signal
		return &Error{Code: codeInterrupted, Exit: interrupted, Err: errors.New("interrupted")}
	}
	return &Error{Code: codeFailed, Exit: Failed, Err: err}
}

// errorOfSession converts an error of a session to an error of a command, by its code. Another
// process may have set the code.
func errorOfSession(c fault.Code, err error) *Error {
	e := &Error{Exit: int(c), Err: err}
	switch c {
	case fault.CodeBadInput:
		e.Code = codeBadInput
	case fault.CodePolicy:
		e.Code = codeRefused
	case fault.CodeMisbehaved:
		return misbehaved(err)
	case fault.CodeTimedOut:
		return silent(err)
	default:
		e.Code, e.Exit = codeFailed, Failed
	}
	return e
}

// blamedError returns the error of a session that failed because of a named peer. A peer that was
// silent, gave up, or sent unsigned bytes has not misbehaved.
func blamedError(kind protocol.Kind, err error) *Error {
	switch kind {
	case protocol.KindSilent:
		return silent(err)
	case protocol.KindAborted, protocol.KindTransport:
		return &Error{Code: codeFailed, Exit: Failed, Err: err}
	}
	return misbehaved(err)
}

func silent(err error) *Error {
	return &Error{Code: codeTimedOut, Exit: TimedOut, Err: err, Hint: "check that the party runs and reaches the coordinator"}
}

func misbehaved(err error) *Error {
	return &Error{Code: codeMisbehaved, Exit: Misbehaved, Err: err, Hint: "talk to the operator of the party before you run the job again"}
}
