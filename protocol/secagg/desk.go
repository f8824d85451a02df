package secagg

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// The timers of a session. Their durations are configuration. Whoever waits
// arms its timer anew with every message that it accepts.
const (
	TimerServer      protocol.Timer = "secagg/server"      // a client waits for the server
	TimerAdvertise   protocol.Timer = "secagg/advertise"   // the server waits for keys
	TimerShare       protocol.Timer = "secagg/share"       // for shares
	TimerMasked      protocol.Timer = "secagg/masked"      // for vectors
	TimerConsistency protocol.Timer = "secagg/consistency" // for signatures
	TimerUnmask      protocol.Timer = "secagg/unmask"      // for released shares
)

// desk is what both machines share: the place where events come in and messages
// go out.
type desk struct {
	setup          protocol.Setup
	params         Params
	at             int // the server's place among the members
	started, ended bool
}

// newDesk checks what both constructors rely on.
func newDesk(s protocol.Setup, p Params, role protocol.Role) (desk, error) {
	d := s.Session
	switch {
	case d == nil:
		return desk{}, errors.New("secagg: no session")
	case d.Protocol != Name || d.Version != Version:
		return desk{}, fmt.Errorf("secagg: the session is of %s version %d, this is %s version %d", d.Protocol, d.Version, Name, Version)
	case p.layout == nil || !bytes.Equal(d.Params, p.Encode()):
		return desk{}, errors.New("secagg: the parameters are not those of the session's descriptor")
	case len(d.With(protocol.RoleServer)) != 1 || len(d.With(protocol.RoleParty)) != len(d.Members)-1:
		return desk{}, errors.New("secagg: a session has one server, and all other members are clients")
	case len(d.Members)-1 != p.clients:
		return desk{}, fmt.Errorf("secagg: parameters for %d clients in a session of %d", p.clients, len(d.Members)-1)
	case d.RoleOf(s.Self) != role:
		return desk{}, fmt.Errorf("secagg: %q is not the %s of this session", s.Self, role)
	}
	return desk{setup: s, params: p, at: d.Index(d.With(protocol.RoleServer)[0])}, nil
}

func (d *desk) server() string { return d.setup.Session.Members[d.at].Name }

// name is that of a client. Clients are counted as the members are, without the
// server. No table of them is kept: where one process plays all clients, it
// would be there once for each.
func (d *desk) name(client int) string {
	if client >= d.at {
		client++
	}
	return d.setup.Session.Members[client].Name
}

// clientOf returns which client has the name, if one has.
func (d *desk) clientOf(name string) (int, bool) {
	i := d.setup.Session.Index(name)
	if i > d.at {
		return i - 1, true
	}
	return i, i >= 0 && i != d.at
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
	start, isStart := e.(protocol.Start)
	switch {
	case d.ended:
		return protocol.Effects{}, errors.New("secagg: the session is over")
	case isStart && d.started:
		return protocol.Effects{}, errors.New("secagg: the session has started already")
	case !isStart && !d.started:
		return protocol.Effects{}, errors.New("secagg: the session has not started")
	}
	switch e := e.(type) {
	case protocol.Start:
		return m.start(start)
	case protocol.Received:
		if err := d.verify(e.Message); err != nil {
			return protocol.Effects{}, err
		}
		return m.receive(e.Message)
	case protocol.Resumed:
		return m.resume()
	case protocol.Expired:
		return m.expire(e.Timer)
	}
	return protocol.Effects{}, fmt.Errorf("secagg: unknown event %T", e)
}

// verify refuses messages of other sessions, numbered ones, kinds that do not
// belong to their round, and pieces of what travels whole.
func (d *desk) verify(m protocol.Message) error {
	if err := d.setup.Session.Check(m.Header, d.setup.Self); err != nil {
		return err
	}
	pieces := 1
	if m.Round == roundMasked {
		pieces = d.params.layout.chunks()
	}
	if m.Sequence != 0 || m.Round > roundUnmask || m.Kind != kindOf(m.Round) || int(m.Chunks) != pieces {
		return stray(m)
	}
	return nil
}

// stray blames m's sender for a message that this role never gets, or not now.
func stray(m protocol.Message) error {
	return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("%s of round %d, piece %d of %d, is not awaited from %s", m.Kind, m.Round, m.Chunk+1, m.Chunks, m.Sender))
}

func malformed(m protocol.Message, err error) error {
	return protocol.Blame(m.Sender, protocol.KindMalformed, err)
}

func inconsistent(party, format string, args ...any) error {
	return protocol.Blame(party, protocol.KindInconsistent, fmt.Errorf("secagg: "+format, args...))
}

func silent(party, what string) error {
	return protocol.Blame(party, protocol.KindSilent, fmt.Errorf("secagg: %s did not come in time", what))
}

func (d *desk) message(to string, round uint16, body []byte) protocol.Message {
	return protocol.Message{Header: d.setup.Session.Header(d.setup.Self, to, round, kindOf(round)), Body: body}
}

// finish ends the session with e's effects.
func (d *desk) finish(e protocol.Effects, err error) (protocol.Effects, error) {
	d.ended = true
	e.Sync, e.End = true, &protocol.End{Err: err}
	return e, nil
}
