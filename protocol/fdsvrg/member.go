package fdsvrg

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// The rounds. The sequence number of a message is the index of its step.
const (
	roundMargins uint16 = 1 + iota
	roundSlopes
)

// kindMargins is the kind of the messages that hold sums of margins.
const kindMargins = "Margins"

func kindOf(round uint16) string {
	if round == roundSlopes {
		return "Slopes"
	}
	return kindMargins
}

// TimerStep limits a member's wait for the next vector.
const TimerStep protocol.Timer = "fdsvrg/step"

// Worker has some columns of all rows, and the weights of these columns.
type Worker interface {
	// Hash returns the SHA-256 of the columns.
	Hash() [sha256.Size]byte
	// Margins returns the worker's own part of the margins of a step's rows: the outputs of the
	// first row, then of the second.
	Margins(Step) []int64
	// Learn updates the weights with the slopes of a step's rows, in the order of Margins.
	Learn(s Step, slopes []float64)
}

// Judge has the labels.
type Judge interface {
	// Slopes returns the slopes of a step's rows by the margins of all workers.
	Slopes(s Step, margins []int64) []float64
	// Decide receives the margins of all rows after the training.
	Decide(margins []int64)
}

// incoming is a vector that arrives in pieces from one member.
type incoming struct {
	from    string
	have    []bool
	missing int
}

func newIncoming(from string, pieces int) incoming {
	return incoming{from, make([]bool, pieces), pieces}
}

// Member is the machine of every role.
type Member struct {
	setup    protocol.Setup
	life     protocol.Life
	schedule schedule
	layout   layout
	names    []string // the leader first
	self     int
	worker   Worker
	judge    Judge // nil except at the leader

	now      Step
	margins  []int64 // of this step, the own and what has come
	children []incoming
	slopes   []float64
	leader   incoming // of the slopes
	queue    []protocol.Message
	over     bool // once the queue is empty
}

// NewWorker returns the machine of a worker without labels.
func NewWorker(s protocol.Setup, w Worker) (*Member, error) {
	return newMember(s, w, nil, protocol.RoleParty, mostWords)
}

// NewLeader returns the machine of the worker with the labels.
func NewLeader(s protocol.Setup, w Worker, j Judge) (*Member, error) {
	if j == nil {
		return nil, errors.New("fdsvrg: the leader brings a judge")
	}
	return newMember(s, w, j, protocol.RoleLeader, mostWords)
}

func newMember(s protocol.Setup, w Worker, j Judge, role protocol.Role, most int) (*Member, error) {
	if err := s.Check(Name, Version, role); err != nil {
		return nil, err
	}
	p, err := ValidateSession(s.Session)
	if err == nil && w == nil {
		err = errors.New("fdsvrg: a worker brings columns")
	}
	if err != nil {
		return nil, err
	}
	m := &Member{setup: s, schedule: newSchedule(p, s.Session.ID()), layout: layout(most), worker: w, judge: j}
	m.names = append(s.Session.With(protocol.RoleLeader), s.Session.With(protocol.RoleParty)...)
	m.self = slices.Index(m.names, s.Self)
	return m, nil
}

// InputHash returns the hash for the start event.
func (m *Member) InputHash() [sha256.Size]byte { return m.worker.Hash() }

// Step implements [protocol.Machine].
func (m *Member) Step(e protocol.Event) (protocol.Effects, error) {
	return m.life.Step(m.setup, e, protocol.Handlers{Start: m.start, Receive: m.receive, Resume: m.resume, Expire: m.expire})
}

func (m *Member) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != m.InputHash() {
		return protocol.Effects{}, errors.New("fdsvrg: the columns differ from those the session was started with; restore them or start a new job")
	}
	m.begin(0)
	effects := m.flush()
	effects.Sync = true
	return effects, nil
}

// begin enters a step: it computes the member's own margins, and sends them if it has no children.
func (m *Member) begin(index int) {
	m.now = m.schedule.step(index)
	m.margins = m.worker.Margins(m.now)
	pieces := m.layout.pieces(len(m.margins))
	m.children = nil
	for child := 2*m.self + 1; child <= 2*m.self+2 && child < len(m.names); child++ {
		m.children = append(m.children, newIncoming(m.names[child], pieces))
	}
	m.slopes, m.leader = make([]float64, len(m.margins)), newIncoming(m.names[0], pieces)
	if len(m.children) == 0 {
		m.pass()
	}
}

// pass sends the sum of this step's margins to the parent in the binary tree.
func (m *Member) pass() {
	body := encodeWords(m.margins)
	m.put(m.names[(m.self-1)/2], roundMargins, body)
	m.over = m.now.Kind == Last
}

// encodeWords writes numbers modulo 2^64.
func encodeWords(numbers []int64) []byte {
	b := make([]byte, 0, wordBytes*len(numbers))
	for _, v := range numbers {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// put queues a vector's messages.
func (m *Member) put(to string, round uint16, body []byte) {
	pieces := m.layout.pieces(len(body) / wordBytes)
	for piece := range pieces {
		lo, hi := m.layout.span(piece, len(body)/wordBytes)
		message := m.setup.Message(to, round, kindOf(round), bytes.Clone(body[wordBytes*lo:wordBytes*hi])).Piece(piece, pieces)
		message.Sequence = uint32(m.now.Index)
		m.queue = append(m.queue, message)
	}
}

// flush sends as much of the queue as one step may.
func (m *Member) flush() protocol.Effects {
	n := min(len(m.queue), protocol.MaxStepBytes/protocol.MaxChunkBytes)
	e := protocol.Effects{Send: m.queue[:n:n], Resume: len(m.queue) > n}
	m.queue = m.queue[n:]
	e.Progress = protocol.Progress{Stage: "steps", Done: int64(m.now.Index), Total: int64(m.schedule.params.Steps())}
	switch {
	case m.over && !e.Resume:
		e.Sync, e.End = true, &protocol.End{}
	case !e.Resume:
		e.Arm = []protocol.Timer{TimerStep}
	}
	return e
}

func (m *Member) resume() (protocol.Effects, error) {
	if len(m.queue) == 0 {
		return protocol.Effects{}, errors.New("fdsvrg: there is nothing to resume")
	}
	return m.flush(), nil
}

// awaited returns the vector that the member waits for: of a child or, when all of these have
// come, of the leader.
func (m *Member) awaited() *incoming {
	for i := range m.children {
		if m.children[i].missing > 0 {
			return &m.children[i]
		}
	}
	return &m.leader
}

func (m *Member) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerStep {
		return protocol.Effects{}, fmt.Errorf("fdsvrg: a member has no timer %q", t)
	}
	if len(m.queue) > 0 {
		return protocol.Effects{Resume: true}, nil
	}
	from := m.awaited().from
	return protocol.Finish(protocol.Effects{}, protocol.Blame(from, protocol.KindSilent, fmt.Errorf("fdsvrg: a vector of step %d did not come in time", m.now.Index)))
}

const wordBytes = 8

// layout divides vectors into messages of at most the given number of words.
type layout int

func (l layout) pieces(words int) int { return max(1, (words-1)/int(l)+1) }

// span returns the words of a piece; it excludes hi.
func (l layout) span(piece, words int) (lo, hi int) {
	return piece * int(l), min((piece+1)*int(l), words)
}

// mostWords is the number of words of the largest message.
const mostWords = protocol.MaxChunkBytes / wordBytes

// Kind names the kind of a step.
type Kind int

// The kinds.
const (
	Full  Kind = iota // over all training rows: an epoch begins
	Inner             // over a batch
	Last              // over all rows, to decide: no slopes follow
)

// Step is one step with its rows.
type Step struct {
	Index int
	Kind  Kind
	Rows  []int
}

// schedule lists the steps of a session in order.
type schedule struct {
	params Params
	id     protocol.SessionID
	epoch  int   // of the order
	order  []int // of the training rows in an epoch
}

func newSchedule(p Params, id protocol.SessionID) schedule {
	return schedule{params: p, id: id, epoch: -1}
}

// step returns a step by its index.
func (s *schedule) step(index int) Step {
	spec, per := s.params.spec, s.params.perEpoch()
	epoch, k := index/per, index%per
	switch {
	case epoch == spec.Epochs:
		return Step{index, Last, linalg.Range(0, spec.Rows+spec.HeldOut)}
	case k == 0:
		return Step{index, Full, linalg.Range(0, spec.Rows)}
	}
	if s.epoch != epoch {
		var place [4]byte
		binary.LittleEndian.PutUint32(place[:], uint32(epoch))
		s.epoch, s.order = epoch, prg.New(s.id, "fdsvrg/order", place[:]).Perm(spec.Rows)
	}
	return Step{index, Inner, s.order[(k-1)*spec.Batch : min(k*spec.Batch, spec.Rows)]}
}

// words counts the numbers of a step.
func (s *schedule) words(t Step) int { return len(t.Rows) * s.params.spec.Outputs }
