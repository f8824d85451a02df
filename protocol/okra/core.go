package okra

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// core is the common state of all machines of this package.
type core struct {
	setup protocol.Setup
	life  protocol.Life
}

// newCore checks the conditions of every constructor.
func newCore(s protocol.Setup, p Params, roles ...protocol.Role) (core, error) {
	if err := s.Check(Name, Version, roles...); err != nil {
		return core{}, err
	}
	switch d := s.Session; {
	case !bytes.Equal(d.Params, p.Encode()):
		return core{}, errors.New("okra: the parameters differ from the session's descriptor")
	case len(d.With(protocol.RoleServer)) != 1:
		return core{}, fmt.Errorf("okra: a session has one server, not %d", len(d.With(protocol.RoleServer)))
	case len(d.With(protocol.RoleServer, protocol.RoleLeader, protocol.RoleParty)) != len(d.Members):
		return core{}, errors.New("okra: a member is neither server nor leader nor party")
	}
	return core{setup: s}, nil
}

func (d *core) server() string { return d.setup.Session.With(protocol.RoleServer)[0] }

// parties returns all members with rows, in the descriptor's order.
func (d *core) parties() []string {
	return d.setup.Session.With(protocol.RoleLeader, protocol.RoleParty)
}

// once refuses numbered messages, since no kind here is sent twice.
func once(m protocol.Message) error {
	if m.Sequence != 0 {
		return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("sequence %d of %s, which is sent once", m.Sequence, m.Kind))
	}
	return nil
}

// whole refuses parts of messages that are sent whole.
func whole(m protocol.Message) error {
	if m.Chunk != 0 || m.Chunks != 1 {
		return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("chunk %d of %d of %s, which travels whole", m.Chunk, m.Chunks, m.Kind))
	}
	return nil
}

// MismatchError reports that members bring features, settings or seeds that do not match. No member
// need have misbehaved; the operators have to agree. It matches [protocol.ErrInput].
type MismatchError struct {
	Parties []string // whose data or settings differ from the leader's
	Detail  string
	public  string // Detail for the server, without the number of features
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

// silent blames the members that did not send a message in time: the first as the blamed party,
// because callers look it up, and the others in the text.
func silent(names []string, what string) error {
	err := fmt.Errorf("okra: %s did not come in time", what)
	if others := names[1:]; len(others) > 0 {
		err = fmt.Errorf("%w, nor from %s", err, list(others))
	}
	return protocol.Blame(names[0], protocol.KindSilent, err)
}
