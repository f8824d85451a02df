package columnorder

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// Party is a member that puts its columns into the leader's order.
type Party struct {
	machine
	key      [keyBytes]byte
	layout   layout // the leader's; zero before its first message
	theirs   digests
	got      []bool // chunks of the leader's list of columns
	missing  int
	order    []int
	mismatch *Mismatch // nil while nothing is wrong here
}

// NewParty returns the machine of a party with its own table.
func NewParty(setup protocol.Setup, own Table) (*Party, error) {
	return newParty(setup, own, bulk())
}

func newParty(setup protocol.Setup, own Table, size sizing) (*Party, error) {
	m, err := newMachine(setup, own, protocol.RoleParty, size)
	if err != nil {
		return nil, err
	}
	return &Party{machine: m}, nil
}

// Order returns, for each place in the leader's table, the place of that column in this
// table, once the machine has ended without an error.
func (p *Party) Order() []int { return p.order }

// Key returns a key that the parties share and the server does not know, once the machine
// has ended without an error.
func (p *Party) Key() [keyBytes]byte { return p.key }

// Own returns the fault of this table's columns, with the table's own names, however the
// session ended; nil if there is none. It is for the party's own log.
func (p *Party) Own() error {
	if p.mismatch == nil {
		return nil
	}
	return p.mismatch
}

// Step implements [protocol.Machine].
func (p *Party) Step(e protocol.Event) (protocol.Effects, error) {
	return p.life.Step(p.setup, e, protocol.Handlers{Start: p.start, Receive: p.receive, Expire: p.expire})
}

func (p *Party) start(e protocol.Start) (protocol.Effects, error) {
	return protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerColumns}}, p.same(e)
}

func (p *Party) receive(m protocol.Message) (protocol.Effects, error) {
	switch {
	case m.Sender != p.leader || m.Sequence != 0:
		return protocol.Effects{}, m.Unexpected()
	case m.Round == roundColumns && m.Kind == kindColumns:
		return p.takeColumns(m)
	case m.Round == roundVerdict && m.Kind == kindVerdict && m.Chunks == 1:
		return p.takeVerdict(m)
	}
	return protocol.Effects{}, m.Unexpected()
}

func (p *Party) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerColumns {
		return protocol.Effects{}, nil
	}
	return protocol.Finish(protocol.Effects{}, protocol.Blame(p.leader, protocol.KindSilent, fmt.Errorf("columnorder: nothing came from %s in time", p.leader)))
}

// errResume is the error for a Resumed that the machine did not request.
var errResume = errors.New("columnorder: there is nothing to resume")

// sendColumns sends as much as a step may, chunk by chunk to all parties.
func (l *Leader) sendColumns() protocol.Effects {
	var eff protocol.Effects
	n := len(l.others) * l.layout.chunks()
	for range min(l.layout.batch, n-l.sent) {
		at, to := l.sent/len(l.others), l.others[l.sent%len(l.others)]
		body := l.layout.encode(l.key, l.digests.span(l.layout.span(at)))
		eff.Send = append(eff.Send, l.setup.Message(to, roundColumns, kindColumns, body).Piece(at, l.layout.chunks()))
		l.sent++
	}
	eff.Resume = l.sent < n
	eff.Progress = protocol.Progress{Stage: "column order", Done: int64(l.sent), Total: int64(n)}
	return eff
}

// takeColumns takes a chunk. After the last one it answers.
func (p *Party) takeColumns(m protocol.Message) (protocol.Effects, error) {
	c, err := decodeColumns(m, p.size)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if err := p.fits(m.Header, c); err != nil {
		return protocol.Effects{}, err
	}
	if p.got == nil {
		p.begin(c)
	}
	lo, _ := c.layout.span(int(m.Chunk))
	copy(p.theirs.exact[lo:], c.exact)
	copy(p.theirs.folded[lo:], c.folded)
	p.got[m.Chunk] = true
	p.missing--
	if p.missing > 0 {
		return protocol.Effects{Arm: []protocol.Timer{TimerColumns}}, nil
	}
	return p.answer(), nil
}

// fits refuses a chunk that does not match the earlier ones.
func (p *Party) fits(h protocol.Header, c chunk) error {
	switch {
	case p.got == nil:
		return nil
	case c.layout != p.layout || c.key != p.key:
		return h.Inconsistent("other columns than in an earlier chunk")
	case p.got[h.Chunk]:
		return h.Unexpected()
	}
	return nil
}

// begin stores the values that all chunks have in common.
func (p *Party) begin(c chunk) {
	p.layout, p.key = c.layout, c.key
	p.missing = c.layout.chunks()
	p.got = make([]bool, p.missing)
	_, width := c.layout.span(p.missing - 1)
	p.theirs = digests{make([]exact, width), make([]folded, width)}
}

// MatchKind is the kind of the messages that send the leader a party's classes.
const MatchKind = "Match"

// The rounds, their messages and their timers.
const (
	roundColumns uint16 = 1
	roundMatch   uint16 = 2
	roundVerdict uint16 = 3
	kindColumns         = "Heading"
	kindMismatch        = "Mismatch" // like Match, from a table with other columns, and without its classes
	kindVerdict         = "Verdict"

	// TimerMatch bounds the leader's wait for the next answer.
	TimerMatch protocol.Timer = "heading/match"
	// TimerColumns bounds a party's wait for the leader's next message.
	TimerColumns protocol.Timer = "heading/heading"
)

// machine is the part that leader and party have in common.
type machine struct {
	setup  protocol.Setup
	life   protocol.Life
	leader string
	own    Table
	size   sizing
}

func newMachine(setup protocol.Setup, own Table, role protocol.Role, size sizing) (machine, error) {
	if err := setup.Check(Name, Version, role); err != nil {
		return machine{}, err
	}
	if err := ValidateSession(setup.Session); err != nil {
		return machine{}, err
	}
	if err := own.validate(); err != nil {
		return machine{}, err
	}
	return machine{setup: setup, leader: setup.Session.With(protocol.RoleLeader)[0], own: own, size: size}, nil
}

// ValidateSession refuses a session that this protocol cannot run. It has one leader, at
// least one party, no other member, and no parameters.
func ValidateSession(s *protocol.Session) error {
	leaders, parties := len(s.With(protocol.RoleLeader)), len(s.With(protocol.RoleParty))
	switch {
	case leaders != 1 || parties == 0 || leaders+parties != len(s.Members):
		return fmt.Errorf("columnorder: a session needs one leader, at least one party and no other member; this one has %d, %d and %d", leaders, parties, len(s.Members)-leaders-parties)
	case len(s.Params) > 0:
		return fmt.Errorf("columnorder: the descriptor has %d bytes of parameters; a column order has none", len(s.Params))
	}
	return nil
}

// InputHash returns the hash that the start event must hold.
func (m *machine) InputHash() [sha256.Size]byte { return m.own.Hash() }

// same refuses to start with another table than the machine was built with.
func (m *machine) same(e protocol.Start) error {
	if e.InputHash != m.InputHash() {
		return errors.New("columnorder: the names differ from those with which the session was started; restore them or start a new job")
	}
	return nil
}
