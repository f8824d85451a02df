package columnorder

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// Party is the machine of a member that puts its columns into the leader's order.
type Party struct {
	machine
	key      [keyBytes]byte
	layout   layout // layout of the leader's table; zero before the first chunk arrives
	theirs   digests
	got      []bool // whether each chunk of the leader's list of columns has arrived
	missing  int
	order    []int
	mismatch *Mismatch // difference between this table's columns and the leader's; nil if there is none
}

// NewParty returns the machine of a party that has the given table.
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

// Order returns, for each column of the leader, its index in this party's table. It requires that
// the machine has ended without an error.
func (p *Party) Order() []int { return p.order }

// Key returns a key that the parties share and the server does not know. It requires that the
// machine has ended without an error.
func (p *Party) Key() [keyBytes]byte { return p.key }

// Own returns the difference between this party's columns and the leader's, or nil if there is
// none. The difference can contain names of this party's columns, so it belongs in this party's log
// only.
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
	return protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerColumns}}, p.checkStart(e)
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
	return protocol.Finish(protocol.Effects{}, protocol.Blame(p.leader, protocol.KindSilent, fmt.Errorf("columnorder: %s did not send a message in time", p.leader)))
}

// errResume refuses a Resumed event that the machine did not request.
var errResume = errors.New("columnorder: the machine has no work to resume")

// sendColumns sends as many chunks of the leader's columns as one step is allowed to send. Each
// chunk goes to all parties before the next one.
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

// takeColumns stores a chunk of the leader's columns. After the last chunk the party answers.
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
	return p.sendAnswer(), nil
}

// fits returns an error if a chunk does not match the earlier chunks.
func (p *Party) fits(h protocol.Header, c chunk) error {
	switch {
	case p.got == nil:
		return nil
	case c.layout != p.layout || c.key != p.key:
		return h.Inconsistent("the key or the layout differs from an earlier chunk")
	case p.got[h.Chunk]:
		return h.Unexpected()
	}
	return nil
}

// begin stores the key and the layout from the first chunk. The other chunks must repeat both.
func (p *Party) begin(c chunk) {
	p.layout, p.key = c.layout, c.key
	p.missing = c.layout.chunks()
	p.got = make([]bool, p.missing)
	_, width := c.layout.span(p.missing - 1)
	p.theirs = digests{make([]exact, width), make([]folded, width)}
}

// MatchKind is the kind of a party's answer if its table has exactly the leader's columns. The
// answer also holds the party's classes.
const MatchKind = "Match"

// A session has these rounds, kinds of messages and timers.
const (
	roundColumns uint16 = 1
	roundMatch   uint16 = 2
	roundVerdict uint16 = 3
	kindColumns         = "Heading"
	kindMismatch        = "Mismatch" // answer of a party whose columns differ from the leader's; it holds no classes
	kindVerdict         = "Verdict"

	// TimerMatch limits the leader's wait for the next answer.
	TimerMatch protocol.Timer = "heading/match"
	// TimerColumns limits a party's wait for the leader's next message.
	TimerColumns protocol.Timer = "heading/heading"
)

// machine holds the state that a leader and a party both have.
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

// ValidateSession returns an error if this protocol cannot run the session. The session must have
// one leader, at least one party, no other member, and no parameters.
func ValidateSession(s *protocol.Session) error {
	leaders, parties := len(s.With(protocol.RoleLeader)), len(s.With(protocol.RoleParty))
	switch {
	case leaders != 1 || parties == 0 || leaders+parties != len(s.Members):
		return fmt.Errorf("columnorder: a session requires one leader, at least one party and no other member; this session has %d leaders, %d parties and %d others", leaders, parties, len(s.Members)-leaders-parties)
	case len(s.Params) > 0:
		return fmt.Errorf("columnorder: the descriptor has %d bytes of parameters; it must have none", len(s.Params))
	}
	return nil
}

// InputHash returns the hash that the start event must hold.
func (m *machine) InputHash() [sha256.Size]byte { return m.own.Hash() }

// checkStart returns an error if the start event is for another table than the machine's own.
func (m *machine) checkStart(e protocol.Start) error {
	if e.InputHash != m.InputHash() {
		return errors.New("columnorder: the table's columns or classes have changed since the session started; restore them or start a new job")
	}
	return nil
}
