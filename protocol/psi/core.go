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

// TimerNext bounds a member's wait for the next message of anybody; every
// message that the member accepts arms it anew. It must outlast the slowest party's
// work on the largest set: with three or more parties a set is passed on only when
// it is complete.
const TimerNext protocol.Timer = "psi/next"

// core is the state that party and comparer share.
type core struct {
	setup   protocol.Setup
	life    protocol.Life
	params  Params
	parties []string // in the descriptor's order; sets are known by their index
	sizing  sizing
}

func newCore(s protocol.Setup, p Params, size sizing, roles ...protocol.Role) (core, error) {
	if err := s.Check(Name, Version, roles...); err != nil {
		return core{}, err
	}
	if err := validate(s.Session, p); err != nil {
		return core{}, err
	}
	return core{setup: s, params: p, parties: partiesOf(s.Session), sizing: size}, nil
}

// validate refuses a session that this protocol cannot run: two parties and
// nobody else, or more with one server, the comparer.
func validate(s *protocol.Session, p Params) error {
	parties, servers := len(partiesOf(s)), len(s.With(protocol.RoleServer))
	switch {
	case string(s.Params) != string(p.Encode()):
		return errors.New("psi: the parameters differ from the session's descriptor")
	case parties < 2 || parties > MaxParties || parties+servers != len(s.Members):
		return fmt.Errorf("psi: a session has 2 to %d parties, and beside them only a server; this one has %d parties among %d members", MaxParties, parties, len(s.Members))
	case parties == 2 && servers != 0:
		return errors.New("psi: two parties compare their sets themselves; leave the server out")
	case parties > 2 && servers != 1:
		return fmt.Errorf("psi: %d parties need one server to compare their sets, not %d", parties, servers)
	}
	return nil
}

// index returns a party's position among the parties, or -1.
func (d *core) index(name string) int {
	for i, p := range d.parties {
		if p == name {
			return i
		}
	}
	return -1
}

// around returns the index step places further around the ring of parties.
func (d *core) around(i, step int) int { return (i + step + len(d.parties)) % len(d.parties) }

// machine is the part that differs between roles.
type machine interface {
	start(protocol.Start) (protocol.Effects, error)
	receive(protocol.Message) (protocol.Effects, error)
	resume() (protocol.Effects, error)
	// busy reports whether there is work for resume.
	busy() bool
	// debtor returns the sender of a missing message, and the message; "" while nothing is missing.
	debtor() (name, what string)
}

// step hands an event to its role, and asks for more steps while there is work.
func (d *core) step(m machine, e protocol.Event) (protocol.Effects, error) {
	eff, err := d.life.Step(d.setup, e, protocol.Handlers{
		Start: m.start, Receive: m.receive, Resume: m.resume,
		Expire: func(t protocol.Timer) (protocol.Effects, error) { return d.expire(m, t) },
	})
	if err != nil || eff.End != nil {
		return eff, err
	}
	eff.Resume = m.busy()
	if _, resumed := e.(protocol.Resumed); !resumed {
		eff.Arm = []protocol.Timer{TimerNext}
	}
	return eff, nil
}

// expire ends the session if somebody owes a message. A timer that runs out
// over the member's own work begins anew.
func (d *core) expire(m machine, t protocol.Timer) (protocol.Effects, error) {
	if t != TimerNext {
		return protocol.Effects{}, fmt.Errorf("psi: there is no timer %q", t)
	}
	name, what := m.debtor()
	if name == "" {
		return protocol.Effects{}, nil
	}
	return end(protocol.Blame(name, protocol.KindSilent, fmt.Errorf("psi: %s did not come in time", what)))
}

// end ends the session with an error.
func end(err error) (protocol.Effects, error) { return protocol.Finish(protocol.Effects{}, err) }

// errIdle answers a Resumed that nobody asked for.
var errIdle = errors.New("psi: there is nothing to resume")

// message is chunk i of n of what concerns the set of the party called owner.
func (d *core) message(to string, round uint16, kind string, owner, i, n int, body []byte) protocol.Message {
	m := d.setup.Message(to, round, kind, body).Piece(i, n)
	m.Sequence = uint32(owner)
	return m
}

// single refuses parts and copies of messages that come once and in one piece,
// and messages of another length.
func single(m protocol.Message, bytes int) error {
	if m.Sequence != 0 || m.Chunk != 0 || m.Chunks != 1 {
		return m.Unexpected()
	}
	if len(m.Body) != bytes {
		return m.Malformed(fmt.Errorf("psi: %d bytes in the place of %d", len(m.Body), bytes))
	}
	return nil
}
