package scale

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Leader is the machine of the party that combines the statistics of all parties, including its
// own.
type Leader struct {
	machine
	members []string // names of all parties, in the order in which their statistics are added
	others  []string // names of all parties except the leader
	rows    []int    // number of rows of each member; unknownRows before the member reports it
	blocks  []block  // one block for each chunk number
	merged  int      // number of blocks before the first block that is not merged
	total   Statistics
	sent    int // number of messages with the scaling sent so far
	result  Scaling
}

// block collects the chunks of all members that have the same chunk number.
type block struct {
	parts   []*columns // chunk of each member; nil before the chunk arrives, and for the leader
	missing int        // number of parties whose chunk has not arrived
}

// unknownRows marks a member that has not reported its number of rows yet.
const unknownRows = -1

// aheadBlocks limits how many blocks a member may be ahead of the slowest member. It also
// limits the leader's memory: aheadBlocks blocks of at most 256 KiB for each party.
const aheadBlocks = 4

// NewLeader returns the machine of a leader whose own rows have the given statistics. They must
// be computed by the session's method.
func NewLeader(setup protocol.Setup, own Statistics) (*Leader, error) {
	return newLeader(setup, own, bulk())
}

func newLeader(setup protocol.Setup, own Statistics, size sizing) (*Leader, error) {
	m, err := newMachine(setup, own, protocol.RoleLeader, size)
	if err != nil {
		return nil, err
	}
	l := &Leader{
		machine: m, members: setup.Session.With(protocol.RoleLeader, protocol.RoleParty), others: setup.Session.With(protocol.RoleParty),
		total: Statistics{Method: own.Method, First: make([]float64, m.layout.columns), Second: make([]float64, m.layout.columns)},
	}
	l.rows = slices.Repeat([]int{unknownRows}, len(l.members))
	l.rows[slices.Index(l.members, setup.Self)] = own.Rows
	l.blocks = make([]block, m.layout.chunks())
	for i := range l.blocks {
		l.blocks[i].missing = len(l.others)
	}
	return l, nil
}

// Result returns the scaling. It requires that the machine has ended without an error.
func (l *Leader) Result() Scaling { return l.result }

// Step implements protocol.Machine.
func (l *Leader) Step(e protocol.Event) (protocol.Effects, error) {
	return l.life.Step(l.setup, e, protocol.Handlers{Start: l.start, Receive: l.takeStatistics, Resume: l.resume, Expire: l.expire})
}

func (l *Leader) start(e protocol.Start) (protocol.Effects, error) {
	return protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerStatistics}}, l.checkStart(e)
}

func (l *Leader) resume() (protocol.Effects, error) {
	if !l.complete() {
		return protocol.Effects{}, errResume
	}
	return l.sendCombined(), nil
}

// complete reports whether all statistics have arrived.
func (l *Leader) complete() bool { return l.merged == len(l.blocks) }

// sendStatistics sends as many chunks of statistics as one step may send.
func (p *Party) sendStatistics() protocol.Effects {
	var eff protocol.Effects
	n := p.layout.chunks()
	for range min(p.layout.batch, n-p.sent) {
		body := p.layout.encode(p.own.Rows, columns{p.own.First, p.own.Second}.span(p.layout.span(p.sent)))
		eff.Send = append(eff.Send, p.message(p.leader, roundStatistics, kindStatistics, p.sent, body))
		p.sent++
	}
	eff.Resume = p.sent < n
	eff.Progress = protocol.Progress{Stage: "statistics", Done: int64(p.sent), Total: int64(n)}
	return eff
}

// takeStatistics stores a chunk of a party's statistics. A wrong number of columns ends the
// session, because no later message could correct it.
func (l *Leader) takeStatistics(m protocol.Message) (protocol.Effects, error) {
	if err := l.expect(m.Header, roundStatistics, kindStatistics, protocol.RoleParty); err != nil {
		return protocol.Effects{}, err
	}
	c, err := decode(m, l.sizing)
	if err == nil {
		err = check(l.own.Method, c.rows, c.columns)
	}
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if f := c.layout.columns; f != l.layout.columns {
		return protocol.Effects{End: &protocol.End{Err: &WidthError{m.Sender, f, l.setup.Self, l.layout.columns}}}, nil
	}
	return l.collect(m.Header, c)
}

// collect stores a chunk of a member's statistics. The chunk has the right number of columns.
func (l *Leader) collect(h protocol.Header, c chunk) (protocol.Effects, error) {
	member, at := slices.Index(l.members, h.Sender), int(h.Chunk)
	b := &l.blocks[at]
	switch {
	case b.missing == 0 || b.parts != nil && b.parts[member] != nil:
		return protocol.Effects{}, protocol.Blame(h.Sender, protocol.KindUnexpected, fmt.Errorf("scale: %v: the chunk has arrived already", h))
	case l.rows[member] != unknownRows && l.rows[member] != c.rows:
		return protocol.Effects{}, h.Inconsistent("the chunk names %d rows, an earlier chunk %d", c.rows, l.rows[member])
	case at >= l.merged+aheadBlocks:
		return protocol.Effects{}, protocol.ErrLater
	}
	if b.parts == nil {
		b.parts = make([]*columns, len(l.members))
	}
	l.rows[member] = c.rows
	b.parts[member] = &c.columns
	b.missing--
	if b.missing == 0 {
		l.mergeBlock(at)
	}
	if l.complete() {
		if l.total.Rows == 0 {
			return protocol.Effects{End: &protocol.End{Err: fmt.Errorf("scale: no party has training rows for the scaling: %w", protocol.ErrInput)}}, nil
		}
		return l.finish(), nil
	}
	return protocol.Effects{Progress: protocol.Progress{Stage: "statistics", Done: int64(l.merged), Total: int64(len(l.blocks))}}, nil
}

// mergeBlock merges the chunks of a block into the total, in the order of the members, and frees the
// chunks. A block can be merged before an earlier block.
func (l *Leader) mergeBlock(at int) {
	lo, hi := l.layout.span(at)
	total := columns{l.total.First, l.total.Second}.span(lo, hi)
	n := 0
	for i, name := range l.members {
		part := columns{l.own.First, l.own.Second}
		if name == l.setup.Self {
			part = part.span(lo, hi)
		} else {
			part = *l.blocks[at].parts[i]
		}
		merge(l.own.Method, total, n, part, l.rows[i])
		n += l.rows[i]
	}
	l.total.Rows = n
	l.blocks[at].parts = nil
	for l.merged < len(l.blocks) && l.blocks[l.merged].missing == 0 {
		l.merged++
	}
}

// finish computes the scaling from the total statistics and starts round 2.
func (l *Leader) finish() protocol.Effects {
	l.result = l.total.scaling()
	eff := l.sendCombined()
	eff.Sync = true
	return eff
}

// expire ends the session if statistics are missing. It blames the first member whose chunk of the
// next block is missing, and lists all such members. Chunks of later blocks do not count, because the
// leader itself can hold them back.
func (l *Leader) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerStatistics || l.complete() {
		return protocol.Effects{}, nil
	}
	var missing []string
	next := l.blocks[l.merged]
	for i, name := range l.members {
		if name != l.setup.Self && (next.parts == nil || next.parts[i] == nil) {
			missing = append(missing, name)
		}
	}
	return protocol.Finish(protocol.Effects{}, protocol.Blame(missing[0], protocol.KindSilent, fmt.Errorf("scale: complete statistics did not arrive in time from %s", strings.Join(missing, ", "))))
}

const (
	// minWidth is the smallest number of columns to which a table is padded.
	minWidth     = 64
	columnBytes  = 16
	headingBytes = 12
)

// sizing limits the columns in a message and the messages in a step.
type sizing struct {
	chunk int // columns in a message, a power of two
	batch int // largest number of messages that one step sends
}

// bulk returns the limits that real sessions use. Some tests use lower limits. A message holds at most
// 256 KiB of numbers, and a step sends as many such messages as [protocol.MaxStepBytes] allows.
func bulk() sizing {
	const chunk = 1 << 14
	return sizing{chunk: chunk, batch: protocol.MaxStepBytes / (headingBytes + columnBytes*chunk)}
}

// layout pads a table's columns to a power of two and divides them into messages.
type layout struct {
	columns int // number of columns of the table
	width   int // number of columns after padding
	sizing
}

func newLayout(columns int, s sizing) layout {
	width := minWidth
	for width < columns {
		width *= 2
	}
	s.chunk = min(s.chunk, width)
	return layout{columns, width, s}
}

func (l layout) chunks() int { return l.width / l.chunk }

// span returns the range of the table's columns in chunk i. The range is empty if the chunk
// holds only padding.
func (l layout) span(i int) (lo, hi int) {
	return min(i*l.chunk, l.columns), min((i+1)*l.chunk, l.columns)
}

// encode returns the body of one chunk. The body holds the number of rows, the number of the
// table's columns and two numbers for each column of the chunk. Both rounds use this format; in
// round 2 the number of rows is 0.
func (l layout) encode(rows int, c columns) []byte {
	var w wire.Writer
	w.Grow(headingBytes + columnBytes*l.chunk)
	w.Uint64(uint64(rows))
	w.Uint32(uint32(l.columns))
	padding := make([]float64, l.chunk-len(c.first))
	for _, v := range [][]float64{c.first, c.second} {
		w.Float64s(v)
		w.Float64s(padding)
	}
	return w.Bytes()
}

// chunk is the decoded body of one message.
type chunk struct {
	rows   int
	layout layout // layout that follows from the sender's number of columns
	columns
}

// decode decodes the body of m. It checks the shape, the padding and the header's chunk
// numbers, but not the two numbers of each column. Sender and receiver split tables in the same way.
func decode(m protocol.Message, s sizing) (chunk, error) {
	r := wire.NewReader(m.Body)
	rows, f := r.Uint64(), int(r.Uint32())
	switch {
	case r.Err() != nil:
		return chunk{}, r.Err()
	case rows > maxRows:
		return chunk{}, fmt.Errorf("the body states %d rows; at most %d are allowed", rows, int64(maxRows))
	case f < 1 || f > MaxColumns:
		return chunk{}, fmt.Errorf("the body states %d columns; 1 to %d are allowed", f, MaxColumns)
	}
	l := newLayout(f, s)
	if int64(m.Chunks) != int64(l.chunks()) || m.Chunk >= m.Chunks || r.Len() != columnBytes*l.chunk {
		return chunk{}, fmt.Errorf("the numbers have %d bytes and are chunk %d of %d, which does not fit a table with %d columns", r.Len(), m.Chunk+1, m.Chunks, f)
	}
	lo, hi := l.span(int(m.Chunk))
	c := chunk{rows: int(rows), layout: l, columns: columns{make([]float64, hi-lo), make([]float64, hi-lo)}}
	for _, v := range [][]float64{c.first, c.second} {
		r.Float64s(v)
		for range l.chunk - len(v) {
			if r.Uint64() != 0 {
				r.Fail(errors.New("the padding is not zero"))
			}
		}
	}
	return c, r.Close("numbers")
}

// A session has these rounds, kinds of messages and timers.
const (
	roundStatistics = 1
	roundCombined   = 2
	kindStatistics  = "Statistics"
	kindCombined    = "Combined"

	// TimerStatistics limits the leader's wait for all statistics.
	TimerStatistics protocol.Timer = "scale/statistics"
	// TimerCombined limits a party's wait for the scaling.
	TimerCombined protocol.Timer = "scale/combined"
)

// machine holds the state that a leader and a party both have.
type machine struct {
	setup  protocol.Setup
	life   protocol.Life
	leader string
	own    Statistics
	layout layout
	sizing sizing
}

func newMachine(setup protocol.Setup, own Statistics, role protocol.Role, size sizing) (machine, error) {
	params, err := ValidateSession(setup.Session)
	if err != nil {
		return machine{}, err
	}
	if err := setup.Check(Name, Version, role); err != nil {
		return machine{}, err
	}
	if err := own.validate(); err != nil {
		return machine{}, err
	}
	if own.Method != params.spec.Method {
		return machine{}, fmt.Errorf("scale: the statistics are for method %s, but the session uses %s; summarise the rows again", own.Method, params.spec.Method)
	}
	return machine{
		setup: setup, leader: setup.Session.With(protocol.RoleLeader)[0],
		own: own, layout: newLayout(len(own.First), size), sizing: size,
	}, nil
}

// InputHash returns the hash that the start event must hold.
func (m *machine) InputHash() [sha256.Size]byte { return m.own.Hash() }

// checkStart returns an error if the start event is for other statistics than the machine's own.
func (m *machine) checkStart(e protocol.Start) error {
	if e.InputHash != m.InputHash() {
		return errors.New("scale: the rows have changed since the session started; restore them or start a new job")
	}
	return nil
}

// expect returns an error unless a message has the given round, kind and role of the sender.
func (m *machine) expect(h protocol.Header, round uint16, kind string, sender protocol.Role) error {
	if h.Round != round || h.Kind != kind || h.Sequence != 0 || m.setup.Session.RoleOf(h.Sender) != sender {
		return protocol.Blame(h.Sender, protocol.KindUnexpected, fmt.Errorf("scale: message %v was not expected; this machine expects only message %s from a %s", h, kind, sender))
	}
	return nil
}

// message returns chunk i of a message to another member.
func (m *machine) message(to string, round uint16, kind string, i int, body []byte) protocol.Message {
	return m.setup.Message(to, round, kind, body).Piece(i, m.layout.chunks())
}

// errResume refuses a Resumed event that the machine did not request.
var errResume = errors.New("scale: the machine has no work to resume")

// WidthError reports that a party's table has another number of columns than the leader's. That
// is a mistake in the data, not misbehaviour. It matches [protocol.ErrInput].
type WidthError struct {
	Party         string
	Columns       int
	Leader        string
	LeaderColumns int
}

func (e *WidthError) Error() string {
	return fmt.Sprintf("scale: %s has %d columns, but %s (the leader) has %d; give every party the same columns", e.Party, e.Columns, e.Leader, e.LeaderColumns)
}

// Public returns the error without the numbers of columns, which the server must not learn.
func (e *WidthError) Public() string {
	return fmt.Sprintf("scale: %s and %s (the leader) have different numbers of columns; the leader's log has the numbers; give every party the same columns", e.Party, e.Leader)
}

// Is reports that the error matches [protocol.ErrInput].
func (e *WidthError) Is(target error) bool { return target == protocol.ErrInput }
