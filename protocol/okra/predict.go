package okra

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// A prediction is a session of two members. The owner of new rows encodes them under the seed of a
// training session, the descriptor's Parent, and the server replies with the model's decisions.
// Rounds 2 and 3 are the training's rounds, without the grant and the labels; round 4 carries the
// decisions.
const (
	roundDecisions = 4
	kindDecisions  = "Decisions"

	TimerDecisions protocol.Timer = "okra/decisions" // the owner of the rows waits for the decisions
)

// maxDecisions limits how many decisions a model returns for one row.
const maxDecisions = (protocol.MaxChunkBytes - 4) / 8

// newPredictCore checks the session of a prediction and its members.
func newPredictCore(s protocol.Setup, p Params, roles ...protocol.Role) (core, error) {
	d, err := newCore(s, p, roles...)
	if err != nil {
		return core{}, err
	}
	if n := len(d.parties()); n != 1 {
		return core{}, fmt.Errorf("okra: the session has %d owners of rows; a prediction has exactly one", n)
	}
	if s.Session.Parent == (protocol.SessionID{}) {
		return core{}, errors.New("okra: the session has no parent; a prediction's descriptor must name the training session")
	}
	return d, nil
}

// PredictParty owns new rows and receives a model's decisions on them.
type PredictParty struct {
	core
	params         Params
	epoch          Seed
	rows, features int
	hash           [sha256.Size]byte // hash of the rows
	upload         *upload
	answers        tally       // record of the chunks that have arrived; empty before the first chunk
	parts          [][]float64 // the decisions in each chunk that has arrived
	cols           int
	decisions      linalg.Matrix[float64]
}

// NewPredictParty returns the machine of a party that requests predictions for its rows. The rows
// are n x f, scaled like the training rows, and epoch is the training session's seed. It refuses
// rows with values above [MaxValue], and a session that is not a prediction of OKRA.
func NewPredictParty(s protocol.Setup, p Params, epoch Seed, rows linalg.Rows) (*PredictParty, error) {
	d, err := newPredictCore(s, p, protocol.RoleParty, protocol.RoleLeader)
	if err != nil {
		return nil, err
	}
	in := Input{Rows: rows}
	if err := in.validate(); err != nil {
		return nil, err
	}
	n, f := in.shape()
	encoder, err := NewEncoder(p, epoch, f, Padding(f))
	if err != nil {
		return nil, err
	}
	return &PredictParty{core: d, params: p, epoch: epoch, rows: n, features: f, hash: in.Hash(), upload: newUpload(encoder, rows, p.wordBytes())}, nil
}

// Decisions returns the decisions, one row of numbers for each row of the party, once the session
// has ended without error.
func (p *PredictParty) Decisions() linalg.Matrix[float64] { return p.decisions }

// InputHash returns the hash of the rows, which [protocol.Start] requires.
func (p *PredictParty) InputHash() [sha256.Size]byte { return p.hash }

// Step implements [protocol.Machine].
func (p *PredictParty) Step(e protocol.Event) (protocol.Effects, error) {
	return p.life.Step(p.setup, e, protocol.Handlers{Start: p.start, Receive: p.receive, Resume: p.resume, Expire: p.expire})
}

func (p *PredictParty) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != p.hash {
		return protocol.Effects{}, errEdited
	}
	a := announce{
		tag:  newTag(p.params, p.epoch, p.features, p.setup.Session.Parent),
		rows: p.rows, width: p.upload.layout.width, wire: p.upload.layout.word,
	}
	query := p.setup.Message(p.server(), roundAnnounce, kindAnnounce, a.encode())
	return protocol.Effects{Sync: true, Send: []protocol.Message{query}, Resume: true}, nil
}

func (p *PredictParty) resume() (protocol.Effects, error) {
	if p.upload.done() {
		return protocol.Effects{}, errors.New("okra: the owner of rows was resumed, but it has nothing to send")
	}
	e := protocol.Effects{}
	first, bodies := p.upload.batch()
	for i, b := range bodies {
		e.Send = append(e.Send, p.setup.Message(p.server(), roundRows, kindRows, b).Piece(first+i, p.upload.layout.chunks()))
	}
	e.Progress = protocol.Progress{Stage: "encode", Done: int64(p.upload.end), Total: int64(p.rows)}
	if e.Resume = !p.upload.done(); !e.Resume {
		e.Arm = []protocol.Timer{TimerDecisions}
	}
	return e, nil
}

func (p *PredictParty) receive(m protocol.Message) (protocol.Effects, error) {
	if err := checkSequence(m); err != nil {
		return protocol.Effects{}, err
	}
	if m.Round != roundDecisions || m.Kind != kindDecisions || m.Sender != p.server() || !p.upload.done() {
		return protocol.Effects{}, m.Unexpected()
	}
	if err := p.takeDecisions(m); err != nil {
		return protocol.Effects{}, err
	}
	if p.answers.missing > 0 {
		return protocol.Effects{Arm: []protocol.Timer{TimerDecisions}}, nil
	}
	p.decisions = shaped(slices.Concat(p.parts...), p.rows, p.cols)
	p.parts = nil
	return protocol.Finish(protocol.Effects{}, nil)
}

// takeDecisions stores the decisions of a chunk. The first chunk to arrive fixes the number of
// decisions for each row.
func (p *PredictParty) takeDecisions(m protocol.Message) error {
	cols, numbers, err := decodeDecisions(m.Body)
	if err != nil {
		return m.Malformed(err)
	}
	l := decisionLayout{p.rows, cols}
	first := p.answers.seen == nil
	if !first && cols != p.cols {
		return m.Inconsistent("the chunk has %d decisions for each row, but earlier chunks have %d", cols, p.cols)
	}
	answers := p.answers
	if first {
		answers = newTally(l.chunks())
	}
	if err := answers.check(m); err != nil {
		return err
	}
	if lo, hi := l.span(int(m.Chunk)); len(numbers) != (hi-lo)*cols {
		return m.Inconsistent("there are %d decisions in chunk %d; it must have %d", len(numbers), m.Chunk, (hi-lo)*cols)
	}
	if first {
		p.cols, p.parts = cols, make([][]float64, l.chunks())
	}
	answers.take(m.Chunk)
	p.answers, p.parts[m.Chunk] = answers, numbers
	return nil
}

func (p *PredictParty) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerDecisions {
		return protocol.Effects{}, fmt.Errorf("okra: an owner of rows has no timer %q", t)
	}
	if !p.upload.done() {
		return protocol.Effects{}, nil
	}
	return protocol.Finish(protocol.Effects{}, silence([]string{p.server()}, "decisions"))
}

// decisionLayout divides n rows of decisions into chunks of whole rows.
type decisionLayout struct{ rows, cols int }

func (l decisionLayout) perChunk() int { return max(1, maxDecisions/l.cols) }

func (l decisionLayout) chunks() int { return (l.rows + l.perChunk() - 1) / l.perChunk() }

func (l decisionLayout) span(chunk int) (lo, hi int) {
	lo = chunk * l.perChunk()
	return lo, min(lo+l.perChunk(), l.rows)
}

func encodeDecisions(m linalg.Matrix[float64]) []byte {
	var w wire.Writer
	w.Grow(4 + 8*m.Rows*m.Cols)
	w.Uint32(uint32(m.Cols))
	for i := range m.Rows {
		w.Float64s(m.Row(i))
	}
	return w.Bytes()
}

// decodeDecisions returns the number of decisions for each row, and all decisions. They must be
// finite.
func decodeDecisions(body []byte) (cols int, numbers []float64, err error) {
	r := wire.NewReader(body)
	cols = int(r.Uint32())
	if r.Err() == nil && (cols < 1 || cols > maxDecisions) {
		r.Fail(fmt.Errorf("the message has %d decisions for each row; 1 to %d are allowed", cols, maxDecisions))
	}
	if r.Err() == nil {
		numbers = make([]float64, min(r.Len()/8, maxDecisions))
		r.Float64s(numbers)
	}
	for i, v := range numbers {
		if r.Err() == nil && !finite(v) {
			r.Fail(fmt.Errorf("decision %d is %v; decisions must be finite", i, v))
		}
	}
	return cols, numbers, r.Close("okra: decisions")
}

func finite(v float64) bool { return v-v == 0 }
