package protocol

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
)

// ErrLater refuses a message for now: the runner leaves it unacknowledged and
// offers it again. It is how a machine holds back a fast peer.
var ErrLater = errors.New("protocol: no room for this message yet")

// ErrInput matches errors that end a session because what the members bring
// does not go together, which is a mistake in somebody's data or settings and
// not misbehaviour. Such an error may have a method Public() string, which says
// what other members may be told of it.
var ErrInput = fault.ErrInput

// Kind names the fault of a blamed peer.
type Kind string

// The kinds of misbehaviour and failure that are pinned on a peer.
const (
	KindForeign      Kind = "foreign"      // not of this session, or not a member
	KindMalformed    Kind = "malformed"    // a body that does not decode
	KindUnexpected   Kind = "unexpected"   // a round or kind this role never gets
	KindInconsistent Kind = "inconsistent" // well-formed, but contradicts what was agreed
	KindEquivocation Kind = "equivocation" // two bodies under one header
	KindAborted      Kind = "aborted"      // the peer gave up and said so
	KindSilent       Kind = "silent"       // the peer did not answer in time
	KindTransport    Kind = "transport"    // before a signature verifies, nobody can be blamed
)

// BlameError names the peer that made a session fail. Party is "transport"
// while no signature of the peer has been verified, because anyone could have
// sent the bytes.
type BlameError struct {
	Party string
	Kind  Kind
	Err   error
}

// Transport is the culprit before a signature has been verified.
const Transport = "transport"

// Blame wraps err so that it names a party.
func Blame(party string, kind Kind, err error) error {
	return &BlameError{Party: party, Kind: kind, Err: err}
}

func (e *BlameError) Error() string { return fmt.Sprintf("%s (%s): %v", e.Party, e.Kind, e.Err) }

func (e *BlameError) Unwrap() error { return e.Err }

// Public returns the part of the error that other members may be told: who is blamed of what.
// Why stays in the log of the member that blames, since a fault in a message may quote what the
// message holds, or what it was compared with. Two kinds of text go along: of silence, which is
// made of names and of what was awaited, and those that say themselves that they may be told,
// such as a fault in a header.
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

// sentence returns what others are told of a fault of this kind.
func (k Kind) sentence() string {
	switch k {
	case KindForeign:
		return "it sent a message of another session"
	case KindMalformed:
		return "it sent a message that cannot be read"
	case KindUnexpected:
		return "it sent a message that was not awaited"
	case KindInconsistent:
		return "it contradicts what was agreed"
	case KindEquivocation:
		return "it told two stories"
	case KindAborted:
		return "it gave up"
	case KindTransport:
		return "a message was damaged or forged on its way"
	}
	return "it broke the protocol"
}

// Silent reports whether the peer did not answer in time.
func (e *BlameError) Silent() bool { return e.Kind == KindSilent }

// Misbehaved reports whether the peer broke the protocol. One that gave up and one that a
// transport names did nothing wrong.
func (e *BlameError) Misbehaved() bool {
	return e.Kind != KindSilent && e.Kind != KindAborted && e.Kind != KindTransport
}

// Unexpected blames h's sender for a message that this role never gets, or not
// now.
func (h Header) Unexpected() error {
	return Blame(h.Sender, KindUnexpected, fault.Publicf("%s: %s of round %d is not awaited from %s", h.Protocol, h.Kind, h.Round, h.Sender))
}

// Malformed blames h's sender for a body that does not decode.
func (h Header) Malformed(err error) error {
	return Blame(h.Sender, KindMalformed, fmt.Errorf("%v: %w", h, err))
}

// Inconsistent blames h's sender for a body that contradicts what was agreed.
func (h Header) Inconsistent(format string, args ...any) error {
	return Blame(h.Sender, KindInconsistent, fmt.Errorf("%s: %v: %w", h.Protocol, h, fmt.Errorf(format, args...)))
}
