package okra

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// core holds the state that all machines of this package have in common.
type core struct {
	setup protocol.Setup
	life  protocol.Life
}

// newCore checks the session and its members, and returns the state that all machines have in
// common.
func newCore(s protocol.Setup, p Params, roles ...protocol.Role) (core, error) {
	if err := s.Check(Name, Version, roles...); err != nil {
		return core{}, err
	}
	switch d := s.Session; {
	case !bytes.Equal(d.Params, p.Encode()):
		return core{}, errors.New("okra: the parameters differ from the session's descriptor")
	case len(d.With(protocol.RoleServer)) != 1:
		return core{}, fmt.Errorf("okra: the session has %d servers; exactly one is required", len(d.With(protocol.RoleServer)))
	case len(d.With(protocol.RoleServer, protocol.RoleLeader, protocol.RoleParty)) != len(d.Members):
		return core{}, errors.New("okra: a member's role is not server, leader or party")
	}
	return core{setup: s}, nil
}

func (d *core) server() string { return d.setup.Session.With(protocol.RoleServer)[0] }

// parties returns all members with rows, in the descriptor's order.
func (d *core) parties() []string {
	return d.setup.Session.With(protocol.RoleLeader, protocol.RoleParty)
}

// checkSequence refuses a message with a sequence number, because a member sends each kind only
// once.
func checkSequence(m protocol.Message) error {
	if m.Sequence != 0 {
		return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("the sequence number is %d; a message %s is sent once, with sequence number 0", m.Sequence, m.Kind))
	}
	return nil
}

// checkUndivided refuses a chunk of a message that must be sent as a whole.
func checkUndivided(m protocol.Message) error {
	if m.Chunk != 0 || m.Chunks != 1 {
		return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("chunk %d of %d arrived; a message %s must be sent whole", m.Chunk, m.Chunks, m.Kind))
	}
	return nil
}

// MismatchError reports that the features, settings, seeds, labels or kept rows of members do not match,
// or that a session has no rows. No member need have misbehaved; the operators have to agree. It matches
// [protocol.ErrInput].
type MismatchError struct {
	Parties []string // the members whose data or settings differ from those of the leader or the server
	Detail  string
	public  string // the text for the server: Detail without the number of features; "" if Detail does not have it
}

func (e *MismatchError) Error() string { return "okra: " + e.Detail }

// Public returns the error without the number of features, which padding hides from
// the server.
func (e *MismatchError) Public() string {
	if e.public == "" {
		return e.Error()
	}
	return "okra: " + e.public
}

// Is reports whether target is [protocol.ErrInput].
func (e *MismatchError) Is(target error) bool { return target == protocol.ErrInput }

// silence returns an error for the members that did not send a message in time. The error blames
// the first member, because it can blame only one; the text names the other members.
func silence(names []string, what string) error {
	err := fmt.Errorf("okra: %s did not come in time", what)
	if others := names[1:]; len(others) > 0 {
		err = fmt.Errorf("%w; also silent: %s", err, joinNames(others))
	}
	return protocol.Blame(names[0], protocol.KindSilent, err)
}
