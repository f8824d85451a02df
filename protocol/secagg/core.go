package secagg

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// The timers of a session. Their durations are configuration. A member that waits
// arms its timer anew with every message that it accepts.
const (
	TimerServer      protocol.Timer = "secagg/server"      // a client waits for the server
	TimerAdvertise   protocol.Timer = "secagg/advertise"   // the server waits for keys
	TimerShare       protocol.Timer = "secagg/share"       // for shares
	TimerMasked      protocol.Timer = "secagg/masked"      // for vectors
	TimerConsistency protocol.Timer = "secagg/consistency" // for signatures
	TimerUnmask      protocol.Timer = "secagg/unmask"      // for released shares
)

// core is the state that both machines share.
type core struct {
	setup  protocol.Setup
	life   protocol.Life
	params Params
	at     int // the server's place among the members
}

// newCore checks what both constructors rely on.
func newCore(s protocol.Setup, p Params, role protocol.Role) (core, error) {
	if err := s.Check(Name, Version, role); err != nil {
		return core{}, err
	}
	d := s.Session
	switch {
	case p.layout == nil || !bytes.Equal(d.Params, p.Encode()):
		return core{}, errors.New("secagg: the parameters differ from the session's descriptor")
	case len(d.With(protocol.RoleServer)) != 1 || len(d.With(protocol.RoleParty)) != len(d.Members)-1:
		return core{}, errors.New("secagg: a session has one server, and all other members are clients")
	case len(d.Members)-1 != p.clients:
		return core{}, fmt.Errorf("secagg: parameters for %d clients in a session of %d", p.clients, len(d.Members)-1)
	}
	return core{setup: s, params: p, at: d.Index(d.With(protocol.RoleServer)[0])}, nil
}

func (d *core) server() string { return d.setup.Session.Members[d.at].Name }

// name returns the name of a client. Clients are counted as the members are, without the
// server. No table of them is kept: where one process plays all clients, it
// would be there once for each.
func (d *core) name(client int) string {
	if client >= d.at {
		client++
	}
	return d.setup.Session.Members[client].Name
}

// clientOf returns which client has the name, if one has.
func (d *core) clientOf(name string) (int, bool) {
	i := d.setup.Session.Index(name)
	if i > d.at {
		return i - 1, true
	}
	return i, i >= 0 && i != d.at
}

// belongs refuses numbered messages, kinds that do not belong to their round,
// and pieces of what travels whole.
func (d *core) belongs(m protocol.Message) error {
	pieces := 1
	if m.Round == roundMasked {
		pieces = d.params.layout.chunks()
	}
	if m.Sequence != 0 || m.Round > roundUnmask || m.Kind != kindOf(m.Round) || int(m.Chunks) != pieces {
		return m.Unexpected()
	}
	return nil
}

func inconsistent(party, format string, args ...any) error {
	return protocol.Blame(party, protocol.KindInconsistent, fmt.Errorf("secagg: "+format, args...))
}

func silent(party, what string) error {
	return protocol.Blame(party, protocol.KindSilent, fmt.Errorf("secagg: %s did not come in time", what))
}

func (d *core) message(to string, round uint16, body []byte) protocol.Message {
	return d.setup.Message(to, round, kindOf(round), body)
}
