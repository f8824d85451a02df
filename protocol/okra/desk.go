package okra

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// desk is what all machines here share: the place where events come in and
// messages go out.
type desk struct {
	setup          protocol.Setup
	started, ended bool
}

// newDesk checks what every constructor relies on.
func newDesk(s protocol.Setup, p Params, roles ...protocol.Role) (desk, error) {
	d := s.Session
	switch {
	case d == nil:
		return desk{}, errors.New("okra: no session")
	case d.Protocol != Name || d.Version != Version:
		return desk{}, fmt.Errorf("okra: the session is of %s version %d, this is %s version %d", d.Protocol, d.Version, Name, Version)
	case !bytes.Equal(d.Params, p.Encode()):
		return desk{}, errors.New("okra: the parameters are not those of the session's descriptor")
	case len(d.With(protocol.RoleServer)) != 1:
		return desk{}, fmt.Errorf("okra: a session has one server, not %d", len(d.With(protocol.RoleServer)))
	case len(d.With(protocol.RoleServer, protocol.RoleLeader, protocol.RoleParty)) != len(d.Members):
		return desk{}, errors.New("okra: a member is neither server nor leader nor party")
	}
	for _, r := range roles {
		if d.RoleOf(s.Self) == r {
			return desk{setup: s}, nil
		}
	}
	return desk{}, fmt.Errorf("okra: %q is not a %s in this session", s.Self, roles[0])
}

func (d *desk) server() string { return d.setup.Session.With(protocol.RoleServer)[0] }

// parties returns all who bring rows, in the descriptor's order.
func (d *desk) parties() []string {
	return d.setup.Session.With(protocol.RoleLeader, protocol.RoleParty)
}

// machine is what a role does with each kind of event.
type machine interface {
	start(protocol.Start) (protocol.Effects, error)
	receive(protocol.Message) (protocol.Effects, error)
	resume() (protocol.Effects, error)
	expire(protocol.Timer) (protocol.Effects, error)
}

// step hands an event that may come now to its role.
func (d *desk) step(m machine, e protocol.Event) (protocol.Effects, error) {
	if err := d.admit(e); err != nil {
		return protocol.Effects{}, err
	}
	switch e := e.(type) {
	case protocol.Start:
		return m.start(e)
	case protocol.Received:
		return m.receive(e.Message)
	case protocol.Resumed:
		return m.resume()
	case protocol.Expired:
		return m.expire(e.Timer)
	}
	return protocol.Effects{}, fmt.Errorf("okra: unknown event %T", e)
}

// admit refuses events out of place. It changes nothing.
func (d *desk) admit(e protocol.Event) error {
	_, start := e.(protocol.Start)
	switch {
	case d.ended:
		return errors.New("okra: the session is over")
	case start && d.started:
		return errors.New("okra: the session has started already")
	case !start && !d.started:
		return errors.New("okra: the session has not started")
	}
	return nil
}

// verify refuses messages of other sessions and, since no kind here is sent
// twice, numbered ones.
func (d *desk) verify(m protocol.Message) error {
	if err := d.setup.Session.Check(m.Header, d.setup.Self); err != nil {
		return err
	}
	if m.Sequence != 0 {
		return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("sequence %d of %s, which is sent once", m.Sequence, m.Kind))
	}
	return nil
}

// whole refuses parts of messages that travel in one piece.
func whole(m protocol.Message) error {
	if m.Chunk != 0 || m.Chunks != 1 {
		return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("chunk %d of %d of %s, which travels whole", m.Chunk, m.Chunks, m.Kind))
	}
	return nil
}

// stray blames m's sender for a message that this role never gets, or not now.
func stray(m protocol.Message) error {
	return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("%s of round %d is not awaited from %s", m.Kind, m.Round, m.Sender))
}

func malformed(m protocol.Message, err error) error {
	return protocol.Blame(m.Sender, protocol.KindMalformed, err)
}

func inconsistent(m protocol.Message, format string, args ...any) error {
	return protocol.Blame(m.Sender, protocol.KindInconsistent, fmt.Errorf("okra: "+format, args...))
}

func (d *desk) message(to string, round uint16, kind string, body []byte) protocol.Message {
	return protocol.Message{Header: d.setup.Session.Header(d.setup.Self, to, round, kind), Body: body}
}

func (d *desk) chunk(to string, round uint16, kind string, i, n int, body []byte) protocol.Message {
	m := d.message(to, round, kind, body)
	m.Chunk, m.Chunks = uint32(i), uint32(n)
	return m
}

// finish ends the session with e's effects.
func (d *desk) finish(e protocol.Effects, err error) (protocol.Effects, error) {
	d.ended = true
	e.Sync, e.End = true, &protocol.End{Err: err}
	return e, nil
}

// MismatchError says that members bring what cannot go together: other
// features, settings or seeds. Nobody need have misbehaved; the operators
// have to agree. It matches [protocol.ErrInput].
type MismatchError struct {
	Parties []string // whose data or settings differ from the leader's
	Detail  string
	public  string // Detail for the server, where that tells the number of features
}

func (e *MismatchError) Error() string { return "okra: " + e.Detail }

// Public is the error without the number of features, which padding hides from
// the server.
func (e *MismatchError) Public() string {
	if e.public == "" {
		return e.Error()
	}
	return "okra: " + e.public
}

// Is says that the members' data or settings do not go together.
func (e *MismatchError) Is(target error) bool { return target == protocol.ErrInput }
