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

// The exit codes.
const (
	Done        = 0
	Failed      = 1
	Usage       = 2 // wrong arguments, job file or data
	Refused     = 3 // by policy
	Misbehaved  = 4 // a peer did, and the message names it
	TimedOut    = 5
	interrupted = Failed
)

// The codes of errors in JSON, one or more for each exit code.
const (
	codeFailed      = "failed"
	codeInterrupted = "interrupted"
	codeUsage       = "usage"
	codeBadJob      = "bad_job"
	codeBadData     = "bad_data"
	codeBadInput    = "bad_input" // job or data, as another process judged
	codeRefused     = "refused"
	codeMisbehaved  = "peer_misbehaved"
	codeTimedOut    = "timed_out"
)

// Error is an error with the exit code of the process.
type Error struct {
	Code string // for programs: "bad_data"
	Hint string // what to do, beyond what the message says; may be empty
	Exit int
	Err  error
	// Result holds the findings of the command in spite of the error, or nil.
	Result Result
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// usage is an error in the arguments.
func usage(format string, args ...any) *Error {
	return &Error{Code: codeUsage, Exit: Usage, Err: fmt.Errorf(format, args...)}
}

// badJob reports a well-formed job that cannot run here.
func badJob(err error) *Error { return &Error{Code: codeBadJob, Exit: Usage, Err: err} }

// refused is an action that a policy forbids.
func refused(err error, hint string) *Error {
	return &Error{Code: codeRefused, Exit: Refused, Err: err, Hint: hint}
}

// classify finds the exit code of any error that a command returns.
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
		return fromSession(coded.Code, err)
	case errors.As(err, &blame):
		return blamed(blame.Kind, err)
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: codeTimedOut, Exit: TimedOut, Err: err}
	case errors.Is(err, context.Canceled): // by a signal
		return &Error{Code: codeInterrupted, Exit: interrupted, Err: errors.New("interrupted")}
	}
	return &Error{Code: codeFailed, Exit: Failed, Err: err}
}

// fromSession maps the code of a session's error, which another process may have set.
func fromSession(c fault.Code, err error) *Error {
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

// blamed separates misbehaviour from failures that only name a peer: a silent peer, a
// peer that gave up and said so, unsigned bytes.
func blamed(kind protocol.Kind, err error) *Error {
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
