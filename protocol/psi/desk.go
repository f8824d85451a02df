package psi

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// The rounds and kinds of messages.
const (
	roundAnnounce = 1
	kindAnnounce  = "Announce" // to parties
	kindCount     = "Count"    // to the comparer
	roundBlind    = 2
	kindBlinded   = "Blinded"
	roundTokens   = 3
	kindTokens    = "Tokens"
	roundCommon   = 4
	kindCommon    = "Common"
	kindNone      = "None"
	roundConfirm  = 5
	kindConfirm   = "Confirm"
	roundProof    = 6
	kindProof     = "Proof"
)

// TimerNext is how long a member waits for the next message of anybody; every
// message that it accepts arms it anew. It must outlast what the slowest party
// needs for the largest set: with three or more parties a set is passed on only
// when it is complete.
const TimerNext protocol.Timer = "psi/next"

// desk is what party and comparer share: the place where events come in and
// messages go out.
type desk struct {
	setup          protocol.Setup
	params         Params
	parties        []string // in the descriptor's order; sets are known by their index
	sizing         sizing
	started, ended bool
}

func newDesk(s protocol.Setup, p Params, size sizing, roles ...protocol.Role) (desk, error) {
	if s.Session == nil {
		return desk{}, errors.New("psi: no session")
	}
	if err := validate(s.Session, p); err != nil {
		return desk{}, err
	}
	for _, r := range roles {
		if s.Session.RoleOf(s.Self) == r {
			return desk{setup: s, params: p, parties: partiesOf(s.Session), sizing: size}, nil
		}
	}
	return desk{}, fmt.Errorf("psi: %q is not a %s of this session", s.Self, roles[0])
}

// index returns a party's position among the parties, or -1.
func (d *desk) index(name string) int {
	for i, p := range d.parties {
		if p == name {
			return i
		}
	}
	return -1
}

// around is the index step places further around the ring of parties.
func (d *desk) around(i, step int) int { return (i + step + len(d.parties)) % len(d.parties) }

// machine is what a role does with each kind of event.
type machine interface {
	start(protocol.Start) (protocol.Effects, error)
	receive(protocol.Message) (protocol.Effects, error)
	resume() (protocol.Effects, error)
	// busy reports whether there is work for resume.
	busy() bool
	// debtor is whose message is missing, and what; "" while nothing is.
	debtor() (name, what string)
}

// step hands an event that may come now to its role.
func (d *desk) step(m machine, e protocol.Event) (protocol.Effects, error) {
	if err := d.admit(m, e); err != nil {
		return protocol.Effects{}, err
	}
	eff, err := d.dispatch(m, e)
	if err != nil {
		return protocol.Effects{}, err
	}
	if d.ended = eff.End != nil; d.ended {
		eff.Sync = true
		return eff, nil
	}
	eff.Resume = m.busy()
	return eff, nil
}

func (d *desk) dispatch(m machine, e protocol.Event) (protocol.Effects, error) {
	switch e := e.(type) {
	case protocol.Start:
		eff, err := m.start(e)
		d.started = err == nil
		eff.Sync, eff.Arm = true, []protocol.Timer{TimerNext}
		return eff, err
	case protocol.Received:
		eff, err := m.receive(e.Message)
		eff.Arm = []protocol.Timer{TimerNext}
		return eff, err
	case protocol.Resumed:
		return m.resume()
	case protocol.Expired:
		return d.expire(m, e.Timer)
	}
	return protocol.Effects{}, fmt.Errorf("psi: unknown event %T", e)
}

// admit refuses events out of place. It changes nothing.
func (d *desk) admit(m machine, e protocol.Event) error {
	_, start := e.(protocol.Start)
	_, resumed := e.(protocol.Resumed)
	switch {
	case d.ended:
		return errors.New("psi: the session is over")
	case start && d.started:
		return errors.New("psi: the session has started already")
	case !start && !d.started:
		return errors.New("psi: the session has not started")
	case resumed && !m.busy():
		return errors.New("psi: there is nothing to resume")
	}
	if r, ok := e.(protocol.Received); ok {
		return d.setup.Session.Check(r.Message.Header, d.setup.Self)
	}
	return nil
}

// expire ends the session if somebody owes a message. A timer that runs out
// over the member's own work begins anew.
func (d *desk) expire(m machine, t protocol.Timer) (protocol.Effects, error) {
	if t != TimerNext {
		return protocol.Effects{}, fmt.Errorf("psi: there is no timer %q", t)
	}
	name, what := m.debtor()
	if name == "" {
		return protocol.Effects{Arm: []protocol.Timer{TimerNext}}, nil
	}
	return end(protocol.Blame(name, protocol.KindSilent, fmt.Errorf("psi: %s did not come in time", what))), nil
}

func end(err error) protocol.Effects { return protocol.Effects{End: &protocol.End{Err: err}} }

// message is chunk i of n of what concerns the set of the party called owner.
func (d *desk) message(to string, round uint16, kind string, owner, i, n int, body []byte) protocol.Message {
	h := d.setup.Session.Header(d.setup.Self, to, round, kind)
	h.Sequence, h.Chunk, h.Chunks = uint32(owner), uint32(i), uint32(n)
	return protocol.Message{Header: h, Body: body}
}

// whole is a message of one piece that concerns no set.
func (d *desk) whole(to string, round uint16, kind string, body []byte) protocol.Message {
	return d.message(to, round, kind, 0, 0, 1, body)
}

// single refuses parts and copies of messages that come once and in one piece.
func single(m protocol.Message, bytes int) error {
	if m.Sequence != 0 || m.Chunk != 0 || m.Chunks != 1 {
		return stray(m)
	}
	if len(m.Body) != bytes {
		return malformed(m, "%d bytes in the place of %d", len(m.Body), bytes)
	}
	return nil
}

// stray blames m's sender for a message that this role never gets, or not now.
func stray(m protocol.Message) error {
	return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("psi: %v is not awaited", m.Header))
}

func malformed(m protocol.Message, format string, args ...any) error {
	return protocol.Blame(m.Sender, protocol.KindMalformed, fmt.Errorf("psi: %v: %w", m.Header, fmt.Errorf(format, args...)))
}

func inconsistent(m protocol.Message, format string, args ...any) error {
	return protocol.Blame(m.Sender, protocol.KindInconsistent, fmt.Errorf("psi: %v: %w", m.Header, fmt.Errorf(format, args...)))
}
