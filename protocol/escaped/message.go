package escaped

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version stand in the descriptor of every session, which has no parameters.
const (
	Name           = "escaped"
	Version uint16 = 1
)

const (
	roundAnnounce = 1
	kindAnnounce  = "Announce"
	kindGrant     = "Grant"

	roundMasked = 2
	kindMasked  = "Masked"
	kindMask    = "Mask"

	roundProducts = 3
	kindOwn       = "Own"
	kindScale     = "Scale"
	kindLabels    = "Labels"
	kindComponent = "Component"
	kindUnmasker  = "Unmasker"

	roundReceipt = 4
	kindReceipt  = "Receipt" // has no body
)

// RowsKinds are the kinds of the messages that let rows out.
func RowsKinds() []string { return []string{kindMasked, kindMask, kindOwn} }

// The timers of a session. Each bounds the time between two messages.
const (
	TimerAnnounce protocol.Timer = "escaped/announce" // the server waits for announcements
	TimerGrant    protocol.Timer = "escaped/grant"    // a party waits for the numbers of rows
	TimerPartner  protocol.Timer = "escaped/partner"  // a party waits for a partner, who may be busy
	TimerProducts protocol.Timer = "escaped/products" // the server waits for products
	TimerReceipt  protocol.Timer = "escaped/receipt"  // a party has sent all
)

type announce struct {
	rows     int
	labelled bool
}

func (a announce) encode() []byte {
	var w wire.Writer
	w.Uint32(uint32(a.rows))
	w.Bool(a.labelled)
	return w.Bytes()
}

// whole refuses parts of messages that travel in one piece.
func whole(m protocol.Message) error {
	if m.Chunk != 0 || m.Chunks != 1 {
		return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("chunk %d of %d of %s, which travels whole", m.Chunk, m.Chunks, m.Kind))
	}
	return nil
}

// core is the state that both machines share.
type core struct {
	setup   protocol.Setup
	life    protocol.Life
	parties []string // in the descriptor's order
}

func newCore(s protocol.Setup, roles ...protocol.Role) (core, error) {
	if err := s.Check(Name, Version, roles...); err != nil {
		return core{}, err
	}
	parties, servers := s.Session.With(protocol.RoleLeader, protocol.RoleParty), s.Session.With(protocol.RoleServer)
	switch {
	case len(s.Session.Params) > 0:
		return core{}, fmt.Errorf("escaped: a session has no parameters")
	case len(servers) != 1 || len(parties) < 2 || len(parties)+1 != len(s.Session.Members):
		return core{}, fmt.Errorf("escaped: a session has one server and two parties or more, and nobody else")
	}
	return core{setup: s, parties: parties}, nil
}

func (c *core) server() string { return c.setup.Session.With(protocol.RoleServer)[0] }

// index returns a party's place among the parties, or -1.
func (c *core) index(name string) int {
	for i, p := range c.parties {
		if p == name {
			return i
		}
	}
	return -1
}

// silent blames the one who did not send what in time.
func silent(name, what string) error {
	return protocol.Blame(name, protocol.KindSilent, fmt.Errorf("escaped: %s did not come in time", what))
}
