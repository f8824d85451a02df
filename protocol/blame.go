package protocol

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
)

// ErrLater tells the runner to offer a message again later. The runner does not acknowledge the
// message until then. A machine returns it for a message that it cannot take yet, for instance to
// slow down a fast peer.
var ErrLater = errors.New("protocol: the machine cannot take this message yet")

// ErrPast tells the runner to acknowledge a message and forget it: the message belongs to a part of
// the session that is over, and its sender is not at fault.
var ErrPast = errors.New("protocol: the message belongs to a part of the session that is over")

// ErrInput matches errors that end a session because the members' inputs or settings
// contradict each other. That is a mistake in data or settings, not misbehaviour. Such an
// error can have a method Public() string, which returns the part that other members are
// allowed to read.
var ErrInput error = errInput

// errInput is the value by which package fault recognises an ErrInput.
var errInput = fault.ErrInput

// Kind classifies the fault of a peer.
type Kind string

// The kinds of misbehaviour and failure for which a machine or its runner blames a peer.
const (
	KindForeign      Kind = "foreign"      // a message of another session or protocol, for another member, or from a non-member
	KindMalformed    Kind = "malformed"    // a message body that cannot be read
	KindUnexpected   Kind = "unexpected"   // a message that this role never receives, or not at this point
	KindInconsistent Kind = "inconsistent" // a well-formed message that contradicts earlier messages or the parameters
	KindEquivocation Kind = "equivocation" // two messages with one header and different bodies, or two signed statements that contradict each other
	KindAborted      Kind = "aborted"      // the peer stopped the session and said so
	KindSilent       Kind = "silent"       // the peer did not answer in time
	KindTransport    Kind = "transport"    // no signature verified yet, so no member can be blamed
)

// BlameError names the peer that made a session fail. Party is [Transport] while no
// signature of the peer has been verified, because anyone could have sent the bytes.
type BlameError struct {
	Party string
	Kind  Kind
	Err   error
}

// Transport is the blamed party in a BlameError as long as no signature of the peer is verified.
const Transport = "transport"

// Blame wraps err in a [BlameError] that names the party at fault.
func Blame(party string, kind Kind, err error) error {
	return &BlameError{Party: party, Kind: kind, Err: err}
}

func (e *BlameError) Error() string { return fmt.Sprintf("%s (%s): %v", e.Party, e.Kind, e.Err) }

func (e *BlameError) Unwrap() error { return e.Err }

// Public returns the part of the error that other members are allowed to read: the blamed party and
// the kind of fault. The cause stays in the log of the member that blames, because it can quote the
// message, or the value that the message was compared with. Two kinds of cause are public all the
// same: silence, whose text holds only names, counts and the expected message, and errors that are
// marked as public, such as a fault in a header.
func (e *BlameError) Public() string {
	if e.Kind == KindSilent {
		return e.Error()
	}
	why := fault.NoticeOf(e.Err).Text
	if why == "" {
		why = e.Kind.sentence()
	}
	return fmt.Sprintf("%s (%s): %s", e.Party, e.Kind, why)
}

// sentence returns the text that other members read about a fault of this kind.
func (k Kind) sentence() string {
	switch k {
	case KindForeign:
		return "it sent a message of another session"
	case KindMalformed:
		return "it sent a message that cannot be read"
	case KindUnexpected:
		return "it sent an unexpected message"
	case KindInconsistent:
		return "it contradicts what was agreed"
	case KindEquivocation:
		return "it sent two different messages under one header"
	case KindAborted:
		return "it gave up"
	case KindTransport:
		return "a message was damaged or forged on its way"
	}
	return "it broke the protocol"
}

// Silent reports whether the peer did not answer in time.
func (e *BlameError) Silent() bool { return e.Kind == KindSilent }

// Misbehaved reports whether the peer broke the protocol. A silent peer, a peer that gave
// up and a fault of the transport are no misbehaviour.
func (e *BlameError) Misbehaved() bool {
	return e.Kind != KindSilent && e.Kind != KindAborted && e.Kind != KindTransport
}

// Unexpected blames h's sender for a message that this role does not expect at this point.
func (h Header) Unexpected() error {
	return Blame(h.Sender, KindUnexpected, fault.Publicf("%s: message %s of round %d is not expected from %s", h.Protocol, h.Kind, h.Round, h.Sender))
}

// Malformed blames h's sender for a body that does not decode.
func (h Header) Malformed(err error) error {
	return Blame(h.Sender, KindMalformed, fmt.Errorf("%v: %w", h, err))
}

// Inconsistent blames h's sender for a body that contradicts what was agreed.
func (h Header) Inconsistent(format string, args ...any) error {
	return Blame(h.Sender, KindInconsistent, fmt.Errorf("%s: %v: %w", h.Protocol, h, fmt.Errorf(format, args...)))
}
