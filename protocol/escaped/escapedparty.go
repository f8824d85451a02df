package escaped

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// Party is the machine of a member that holds rows.
type Party struct {
	core
	input    Input
	hash     [sha256.Size]byte
	self     int
	scale    float64 // number a that multiplies the mask
	rows     linalg.Matrix[float64]
	mask     linalg.Matrix[float64] // mask A of the rows
	counts   []int                  // number of rows of each party; nil before the grant
	incoming []*incoming            // matrices from every other party; nil for this party, and before a party's first chunk
	partners []int                  // parties whose products are not yet on the agenda, in the order of partnersOf
	agenda   []task
}

// task does one part of a party's work and returns the messages to send.
type task func() []protocol.Message

// incoming holds the matrices that another party sends.
type incoming struct {
	masked *sheet // masked rows X - A
	mask   *sheet // multiplied mask a A; nil if the other party comes later in the session's order
}

func (g *incoming) complete() bool {
	return g.masked.complete() && (g.mask == nil || g.mask.complete())
}

// forget frees the matrices of a partner, but remembers that the matrices have arrived.
func (g *incoming) forget() []protocol.Message {
	for _, s := range []*sheet{g.masked, g.mask} {
		if s != nil {
			s.m = linalg.Matrix[float64]{}
		}
	}
	return nil
}

// NewParty returns the machine of a party with the given input. It returns an error if the
// input or the session is invalid.
func NewParty(s protocol.Setup, in Input) (*Party, error) {
	c, err := newCore(s, protocol.RoleParty, protocol.RoleLeader)
	if err != nil {
		return nil, err
	}
	if err := in.validate(); err != nil {
		return nil, err
	}
	p := &Party{core: c, input: in, hash: in.Hash(), self: c.index(s.Self)}
	p.partners = partnersOf(len(c.parties), p.self)
	p.rows = linalg.New[float64](in.shape())
	linalg.Gather(p.rows, in.Rows, 0)
	return p, nil
}

// InputHash returns the hash of the party's input, for [protocol.Start].
func (p *Party) InputHash() [sha256.Size]byte { return p.hash }

// TotalRows returns the number of rows of all parties together. It returns 0 before the server
// has sent the numbers.
func (p *Party) TotalRows() (total int) {
	for _, n := range p.counts {
		total += n
	}
	return total
}

// Step implements [protocol.Machine].
func (p *Party) Step(e protocol.Event) (protocol.Effects, error) {
	return p.life.Step(p.setup, e, protocol.Handlers{Start: p.start, Receive: p.receive, Resume: p.resume, Expire: p.expire})
}

func (p *Party) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != p.hash {
		return protocol.Effects{}, errEdited
	}
	a := announce{p.rows.Rows, p.input.Labels != nil}
	return protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerGrant},
		Send: []protocol.Message{p.setup.Message(p.server(), roundAnnounce, kindAnnounce, a.encode())}}, nil
}

func (p *Party) receive(m protocol.Message) (protocol.Effects, error) {
	from := p.index(m.Sender)
	switch {
	case m.Sequence != 0:
	case m.Round == roundAnnounce && m.Kind == kindGrant && m.Sender == p.server() && p.counts == nil:
		return p.receiveGrant(m)
	case m.Round == roundReceipt && m.Kind == kindReceipt && m.Sender == p.server() && p.sent():
		return p.receiveReceipt(m)
	case m.Round != roundMasked || from < 0 || from == p.self:
	case m.Kind == kindMasked || m.Kind == kindMask && from < p.self:
		return p.receiveSheet(m, from)
	}
	return protocol.Effects{}, m.Unexpected()
}

func (p *Party) receiveGrant(m protocol.Message) (protocol.Effects, error) {
	if err := checkSingleChunk(m); err != nil {
		return protocol.Effects{}, err
	}
	counts, err := decodeGrant(m.Body, len(p.parties))
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	for i, n := range counts {
		if i == p.self && n != p.rows.Rows {
			return protocol.Effects{}, m.Inconsistent("the message names %d rows for %s; this party has %d rows", n, p.parties[i], p.rows.Rows)
		}
		if n > MaxWords/p.rows.Cols {
			return protocol.Effects{}, m.Inconsistent("the message names %d rows for %s; that is more than %s can process", n, p.parties[i], p.setup.Self)
		}
	}
	p.counts, p.incoming = counts, make([]*incoming, len(counts))
	p.begin()
	return protocol.Effects{Sync: true, Resume: true}, nil
}

// receiveSheet stores a chunk of a partner's matrix. The chunk can arrive before this party has
// finished with other partners.
func (p *Party) receiveSheet(m protocol.Message, from int) (protocol.Effects, error) {
	if p.counts == nil {
		return protocol.Effects{}, protocol.ErrLater
	}
	if p.incoming[from] == nil {
		g := &incoming{masked: newSheet(p.counts[from], p.rows.Cols)}
		if from < p.self {
			g.mask = newSheet(p.counts[from], p.rows.Cols)
		}
		p.incoming[from] = g
	}
	s := p.incoming[from].masked
	if m.Kind == kindMask {
		s = p.incoming[from].mask
	}
	if err := s.take(m); err != nil {
		return protocol.Effects{}, err
	}
	return p.goOn(protocol.Effects{}), nil
}

func (p *Party) sent() bool { return p.counts != nil && len(p.agenda) == 0 && len(p.partners) == 0 }

func (p *Party) resume() (protocol.Effects, error) {
	if len(p.agenda) == 0 {
		return protocol.Effects{}, errors.New("escaped: the party has no work to resume")
	}
	next := p.agenda[0]
	p.agenda[0], p.agenda = nil, p.agenda[1:]
	return p.goOn(protocol.Effects{Send: next()}), nil
}

// goOn continues with the next partner once its matrices are complete, or waits if there is no work.
// After every event, the effects say whether there is more work, so a runner need not remember an
// earlier Resume.
func (p *Party) goOn(e protocol.Effects) protocol.Effects {
	for len(p.agenda) == 0 && len(p.partners) > 0 && p.incoming[p.partners[0]] != nil && p.incoming[p.partners[0]].complete() {
		p.meet(p.partners[0])
		p.partners = p.partners[1:]
		p.greet()
	}
	met := len(p.parties) - 1 - len(p.partners)
	e.Progress = protocol.Progress{Stage: "pairs", Done: int64(met), Total: int64(len(p.parties) - 1)}
	switch {
	case len(p.agenda) > 0:
		e.Resume = true
	case len(p.partners) > 0:
		e.Arm = []protocol.Timer{TimerPartner}
	default:
		e.Arm = []protocol.Timer{TimerReceipt}
	}
	return e
}

func (p *Party) receiveReceipt(m protocol.Message) (protocol.Effects, error) {
	if err := checkSingleChunk(m); err != nil {
		return protocol.Effects{}, err
	}
	if len(m.Body) > 0 {
		return protocol.Effects{}, m.Malformed(fmt.Errorf("escaped: the receipt has %d bytes; it must be empty", len(m.Body)))
	}
	return protocol.Finish(protocol.Effects{}, nil)
}

func (p *Party) expire(t protocol.Timer) (protocol.Effects, error) {
	switch {
	case t == TimerGrant && p.counts == nil:
		return protocol.Finish(protocol.Effects{}, silent(p.server(), "the numbers of rows"))
	case t == TimerPartner && p.counts != nil && len(p.agenda) == 0 && len(p.partners) > 0:
		return protocol.Finish(protocol.Effects{}, silent(p.parties[p.partners[0]], "masked rows"))
	case t == TimerReceipt && p.sent():
		return protocol.Finish(protocol.Effects{}, silent(p.server(), "a receipt"))
	case t == TimerGrant || t == TimerPartner || t == TimerReceipt:
		return protocol.Effects{}, nil
	}
	return protocol.Effects{}, fmt.Errorf("escaped: a party has no timer %q", t)
}

func decodeGrant(b []byte, parties int) ([]int, error) {
	r := wire.NewReader(b)
	rows := make([]int, parties)
	for i := range rows {
		if rows[i] = int(r.Uint32()); r.Err() == nil && (rows[i] < 1 || rows[i] > MaxRows) {
			r.Fail(fmt.Errorf("a party has %d rows; 1 to %d are allowed", rows[i], MaxRows))
		}
	}
	return rows, r.Close("escaped: grant")
}

// partnersOf returns the order in which one of m parties computes products with the other parties.
// By the circle method for tournaments, every two parties meet once, in m-1 rounds if m is even and
// in m rounds if m is odd.
func partnersOf(m, self int) (partners []int) {
	n := m + m%2 // even; if m is odd, a dummy party is added
	for r := range n - 1 {
		if partner := opponent(n, r, self); partner < m {
			partners = append(partners, partner)
		}
	}
	return partners
}

// opponent returns the party that a given party meets in one round of a round-robin tournament. The
// number n of parties is even. The last party keeps its place in the circle.
func opponent(n, round, self int) int {
	if self == n-1 {
		return round * (n / 2) % (n - 1)
	}
	if other := ((round-self)%(n-1) + n - 1) % (n - 1); other != self {
		return other
	}
	return n - 1
}

// Name and Version identify the protocol in every session's descriptor. The protocol has no
// parameters.
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
	kindReceipt  = "Receipt" // message without a body
)

// A session has these timers. Each limits the time between two messages.
const (
	TimerAnnounce protocol.Timer = "escaped/announce" // the server waits for announcements
	TimerGrant    protocol.Timer = "escaped/grant"    // a party waits for the numbers of rows
	TimerPartner  protocol.Timer = "escaped/partner"  // a party waits for a partner, who can be busy with other parties
	TimerProducts protocol.Timer = "escaped/products" // the server waits for products
	TimerReceipt  protocol.Timer = "escaped/receipt"  // a party waits for the receipt
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

// checkSingleChunk returns an error if a message has more than one chunk.
func checkSingleChunk(m protocol.Message) error {
	if m.Chunk != 0 || m.Chunks != 1 {
		return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("the message is chunk %d of %d; a message %s must have one chunk", m.Chunk, m.Chunks, m.Kind))
	}
	return nil
}

// core holds the state that the machines of a party and of the server both have.
type core struct {
	setup   protocol.Setup
	life    protocol.Life
	parties []string // names in the descriptor's order
}

func newCore(s protocol.Setup, roles ...protocol.Role) (core, error) {
	if err := s.Check(Name, Version, roles...); err != nil {
		return core{}, err
	}
	parties, servers := s.Session.With(protocol.RoleLeader, protocol.RoleParty), s.Session.With(protocol.RoleServer)
	switch {
	case len(s.Session.Params) > 0:
		return core{}, fmt.Errorf("escaped: the session has parameters; the protocol allows none")
	case len(servers) != 1 || len(parties) < 2 || len(parties)+1 != len(s.Session.Members):
		return core{}, fmt.Errorf("escaped: the session has %d servers, %d parties and %d other members; one server, at least two parties and no other member are required", len(servers), len(parties), len(s.Session.Members)-len(servers)-len(parties))
	}
	return core{setup: s, parties: parties}, nil
}

func (c *core) server() string { return c.setup.Session.With(protocol.RoleServer)[0] }

// index returns a party's index in c.parties, or -1.
func (c *core) index(name string) int {
	for i, p := range c.parties {
		if p == name {
			return i
		}
	}
	return -1
}

// silent returns an error that blames a member for a message that did not arrive in time.
func silent(name, what string) error {
	return protocol.Blame(name, protocol.KindSilent, fmt.Errorf("escaped: %s did not come in time", what))
}
