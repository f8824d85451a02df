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

// Every message belongs to one of these rounds. The sequence number of a message is the index
// of its step.
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

// TimerStep limits a member's wait for the next vector of margins or slopes.
const TimerStep protocol.Timer = "fdsvrg/step"

// Worker holds some columns of all rows and the weights of these columns.
type Worker interface {
	// Hash returns the SHA-256 of the columns.
	Hash() [sha256.Size]byte
	// Margins returns the worker's own part of the margins of a step's rows. The result lists all
	// outputs of the first row, then all outputs of the second row, and so on.
	Margins(Step) []int64
	// Learn updates the weights by the slopes of a step's rows. The slopes have the order in which
	// Margins returns the margins.
	Learn(s Step, slopes []float64)
}

// Judge computes slopes from margins and labels for the leader.
type Judge interface {
	// Slopes returns the slopes of a step's rows, given the sums of all workers' margins.
	Slopes(s Step, margins []int64) []float64
	// Decide receives the final margins of all rows after the training.
	Decide(margins []int64)
}

// incoming records which pieces of a vector have arrived from one member.
type incoming struct {
	from    string
	have    []bool
	missing int
}

func newIncoming(from string, pieces int) incoming {
	return incoming{from, make([]bool, pieces), pieces}
}

// Member is the machine of a worker or of the leader.
type Member struct {
	setup     protocol.Setup
	life      protocol.Life
	schedule  schedule
	pieceSize pieceSize
	names     []string // names of the members; the leader is first
	self      int
	worker    Worker
	judge     Judge // computes slopes; nil except at the leader

	now      Step
	margins  []int64 // sum of this member's margins in the step and of all margins received from its children
	children []incoming
	slopes   []float64
	leader   incoming // records the pieces of the leader's slopes
	queue    []protocol.Message
	over     bool // whether the session ends when the queue is empty
}

// NewWorker returns the machine of a worker without labels.
func NewWorker(s protocol.Setup, w Worker) (*Member, error) {
	return newMember(s, w, nil, protocol.RoleParty, mostWords)
}

// NewLeader returns the machine of the worker that has the labels.
func NewLeader(s protocol.Setup, w Worker, j Judge) (*Member, error) {
	if j == nil {
		return nil, errors.New("fdsvrg: the judge is nil; a leader requires one")
	}
	return newMember(s, w, j, protocol.RoleLeader, mostWords)
}

func newMember(s protocol.Setup, w Worker, j Judge, role protocol.Role, most int) (*Member, error) {
	if err := s.Check(Name, Version, role); err != nil {
		return nil, err
	}
	p, err := ValidateSession(s.Session)
	if err == nil && w == nil {
		err = errors.New("fdsvrg: the worker is nil; a member requires columns")
	}
	if err != nil {
		return nil, err
	}
	m := &Member{setup: s, schedule: newSchedule(p, s.Session.ID()), pieceSize: pieceSize(most), worker: w, judge: j}
	m.names = append(s.Session.With(protocol.RoleLeader), s.Session.With(protocol.RoleParty)...)
	m.self = slices.Index(m.names, s.Self)
	return m, nil
}

// InputHash returns the hash of the columns, for [protocol.Start].
func (m *Member) InputHash() [sha256.Size]byte { return m.worker.Hash() }

// Step implements [protocol.Machine].
func (m *Member) Step(e protocol.Event) (protocol.Effects, error) {
	return m.life.Step(m.setup, e, protocol.Handlers{Start: m.start, Receive: m.receive, Resume: m.resume, Expire: m.expire})
}

func (m *Member) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != m.InputHash() {
		return protocol.Effects{}, errors.New("fdsvrg: the columns have changed since the session started; restore them or start a new job")
	}
	m.begin(0)
	effects := m.flush()
	effects.Sync = true
	return effects, nil
}

// begin starts a step. It computes the member's own margins and sends them if the member has no
// children in the tree.
func (m *Member) begin(index int) {
	m.now = m.schedule.step(index)
	m.margins = m.worker.Margins(m.now)
	pieces := m.pieceSize.pieces(len(m.margins))
	m.children = nil
	for child := 2*m.self + 1; child <= 2*m.self+2 && child < len(m.names); child++ {
		m.children = append(m.children, newIncoming(m.names[child], pieces))
	}
	m.slopes, m.leader = make([]float64, len(m.margins)), newIncoming(m.names[0], pieces)
	if len(m.children) == 0 {
		m.pass()
	}
}

// pass sends the sum of this step's margins to the member's parent in the binary tree.
func (m *Member) pass() {
	body := encodeWords(m.margins)
	m.put(m.names[(m.self-1)/2], roundMargins, body)
	m.over = m.now.Kind == Last
}

// encodeWords encodes numbers as 8-byte words, modulo 2^64.
func encodeWords(numbers []int64) []byte {
	b := make([]byte, 0, wordBytes*len(numbers))
	for _, v := range numbers {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// put appends a vector's messages to the queue.
func (m *Member) put(to string, round uint16, body []byte) {
	pieces := m.pieceSize.pieces(len(body) / wordBytes)
	for piece := range pieces {
		lo, hi := m.pieceSize.span(piece, len(body)/wordBytes)
		message := m.setup.Message(to, round, kindOf(round), bytes.Clone(body[wordBytes*lo:wordBytes*hi])).Piece(piece, pieces)
		message.Sequence = uint32(m.now.Index)
		m.queue = append(m.queue, message)
	}
}

// flush sends as many messages of the queue as one step is allowed to send.
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
		return protocol.Effects{}, errors.New("fdsvrg: the member has no work to resume")
	}
	return m.flush(), nil
}

// awaited returns the vector for which the member waits. It comes from a child or, if all
// children's vectors have arrived, from the leader.
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

// pieceSize is the largest number of words in one message. Longer vectors are divided into pieces.
type pieceSize int

func (l pieceSize) pieces(words int) int { return max(1, (words-1)/int(l)+1) }

// span returns the half-open range of words [lo, hi) of a piece.
func (l pieceSize) span(piece, words int) (lo, hi int) {
	return piece * int(l), min((piece+1)*int(l), words)
}

// mostWords is the largest number of words in a message.
const mostWords = protocol.MaxChunkBytes / wordBytes

// Kind is the kind of a training step.
type Kind int

// A step has one of these kinds.
const (
	Full  Kind = iota // uses all training rows, at the start of an epoch
	Inner             // uses one batch of training rows
	Last              // computes the margins of all rows; no slopes follow
)

// Step describes one step of the training and its rows.
type Step struct {
	Index int
	Kind  Kind
	Rows  []int
}

// schedule computes the steps of a session from their indices.
type schedule struct {
	params Params
	id     protocol.SessionID
	epoch  int   // epoch for which order was drawn
	order  []int // training rows in the shuffled order of the epoch
}

func newSchedule(p Params, id protocol.SessionID) schedule {
	return schedule{params: p, id: id, epoch: -1}
}

// step returns the step with the given index.
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

// words returns the number of margins in a step.
func (s *schedule) words(t Step) int { return len(t.Rows) * s.params.spec.Outputs }
