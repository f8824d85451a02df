package okra

import (
	"crypto/hmac"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// Answer computes a model's decisions on encoded rows. It returns the same number of decisions, in
// one row of the result, for each encoded row. It is a pure function that handles each row
// independently.
type Answer func(encoded linalg.Matrix[float64]) (linalg.Matrix[float64], error)

// PredictServer is the server of a prediction: it sends a model's decisions on the rows that it
// receives encoded.
type PredictServer struct {
	core
	params    Params
	tag       Tag
	width     int
	answer    Answer
	limits    Limits
	layout    layout
	store     store // nil until the announcement has arrived
	rows      tally
	done      int // number of rows with decisions
	decisions linalg.Matrix[float64]
	sent      int // number of chunks sent
}

// NewPredictServer returns the server's machine for a prediction session. tag and width come from
// the training session, so that the server refuses rows encoded under another seed.
func NewPredictServer(s protocol.Setup, p Params, tag Tag, width int, answer Answer, l Limits) (*PredictServer, error) {
	d, err := newPredictCore(s, p, protocol.RoleServer)
	if err != nil {
		return nil, err
	}
	return &PredictServer{core: d, params: p, tag: tag, width: width, answer: answer, limits: l.orDefault()}, nil
}

func (s *PredictServer) owner() string { return s.parties()[0] }

// Step implements [protocol.Machine].
func (s *PredictServer) Step(e protocol.Event) (protocol.Effects, error) {
	return s.life.Step(s.setup, e, protocol.Handlers{Start: s.start, Receive: s.receive, Resume: s.resume, Expire: s.expire})
}

func (s *PredictServer) start(protocol.Start) (protocol.Effects, error) {
	return protocol.Effects{Arm: []protocol.Timer{TimerAnnounce}}, nil
}

func (s *PredictServer) receive(m protocol.Message) (protocol.Effects, error) {
	if err := checkSequence(m); err != nil {
		return protocol.Effects{}, err
	}
	switch {
	case m.Sender != s.owner():
	case m.Round == roundAnnounce && m.Kind == kindAnnounce && s.store == nil:
		return s.receiveAnnounce(m)
	case m.Round == roundRows && m.Kind == kindRows && s.store == nil:
		return protocol.Effects{}, protocol.ErrLater
	case m.Round == roundRows && m.Kind == kindRows:
		return s.receiveRows(m)
	}
	return protocol.Effects{}, m.Unexpected()
}

func (s *PredictServer) receiveAnnounce(m protocol.Message) (protocol.Effects, error) {
	if err := checkUndivided(m); err != nil {
		return protocol.Effects{}, err
	}
	a, err := decodeAnnounce(m.Body)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if a.wire != s.params.wordBytes() || a.grid || a.labelled {
		return protocol.Effects{}, m.Inconsistent("the announcement is not a prediction's; it must announce numbers of %d bytes, without grid or labels", s.params.wordBytes())
	}
	if a.width != s.width || !hmac.Equal(a.tag[:], s.tag[:]) {
		return protocol.Finish(protocol.Effects{}, &MismatchError{Parties: []string{m.Sender}, Detail: fmt.Sprintf("%s's encoding parameters differ from the model's: features, seed or settings are not the same", m.Sender)})
	}
	if err := s.limits.check(a.rows, a.width, a.wire, 0); err != nil {
		return protocol.Finish(protocol.Effects{}, err)
	}
	s.layout = layout{a.rows, a.width, a.wire}
	s.store = newStore(a.rows, a.width, a.wire)
	s.rows = newTally(s.layout.chunks())
	return protocol.Effects{Arm: []protocol.Timer{TimerRows}}, nil
}

func (s *PredictServer) receiveRows(m protocol.Message) (protocol.Effects, error) {
	if err := s.rows.check(m); err != nil {
		return protocol.Effects{}, err
	}
	if err := s.store.put(s.layout.span(int(m.Chunk)), 0, m.Body); err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	s.rows.take(m.Chunk)
	if s.rows.missing > 0 {
		return protocol.Effects{Arm: []protocol.Timer{TimerRows}}, nil
	}
	return protocol.Effects{Resume: true}, nil
}

// resume computes the decisions on a panel of rows or, once all are computed, sends decisions. It
// ends after the last.
func (s *PredictServer) resume() (protocol.Effects, error) {
	switch {
	case s.store == nil || s.rows.missing > 0:
		return protocol.Effects{}, errors.New("okra: the server was resumed before all rows arrived")
	case s.done < s.layout.rows:
		return s.answerPanel()
	}
	l := decisionLayout{s.layout.rows, s.decisions.Cols}
	e := protocol.Effects{}
	for size := 0; s.sent < l.chunks() && size+protocol.MaxChunkBytes <= protocol.MaxStepBytes; s.sent++ {
		body := encodeDecisions(s.decisions.Panel(l.span(s.sent)))
		size += len(body)
		e.Send = append(e.Send, s.setup.Message(s.owner(), roundDecisions, kindDecisions, body).Piece(s.sent, l.chunks()))
	}
	if e.Resume = s.sent < l.chunks(); e.Resume {
		return e, nil
	}
	return protocol.Finish(e, nil)
}

// answerPanel computes the decisions on the next rows. It takes at most 512 rows, fewer if they are
// wide, so that a step stays short for every model.
func (s *PredictServer) answerPanel() (protocol.Effects, error) {
	end := min(s.done+min(panelRows, max(8, 1<<19/s.width)), s.layout.rows)
	encoded := linalg.New[float64](end-s.done, s.width)
	linalg.Gather(encoded, s.store.rows(), s.done)
	answers, err := s.answer(encoded)
	if err == nil {
		err = s.storeDecisions(answers, end)
	}
	if err != nil {
		return protocol.Finish(protocol.Effects{}, fmt.Errorf("okra: the decisions on rows %d to %d failed: %w", s.done, end-1, err))
	}
	return protocol.Effects{Resume: true,
		Progress: protocol.Progress{Stage: "answer", Done: int64(s.done), Total: int64(s.layout.rows)}}, nil
}

// storeDecisions checks and stores the model's decisions on the next rows. These are the rows
// s.done to end-1.
func (s *PredictServer) storeDecisions(answers linalg.Matrix[float64], end int) error {
	if s.done == 0 && answers.Cols > 0 && answers.Cols <= maxDecisions {
		s.decisions = linalg.New[float64](s.layout.rows, answers.Cols)
	}
	if answers.Rows != end-s.done || answers.Cols != s.decisions.Cols || answers.Cols == 0 {
		return fmt.Errorf("the model returned %d x %d decisions; for each row it must return the same number of decisions, at least one", answers.Rows, answers.Cols)
	}
	for i := range answers.Rows {
		for _, v := range answers.Row(i) {
			if !finite(v) {
				return fmt.Errorf("the model returned the decision %v for row %d; decisions must be finite", v, s.done+i)
			}
		}
		copy(s.decisions.Row(s.done+i), answers.Row(i))
	}
	s.done = end
	return nil
}

func (s *PredictServer) expire(t protocol.Timer) (protocol.Effects, error) {
	switch {
	case t == TimerAnnounce && s.store == nil:
		return protocol.Finish(protocol.Effects{}, silence([]string{s.owner()}, "an announcement"))
	case t == TimerRows && s.store != nil && s.rows.missing > 0:
		return protocol.Finish(protocol.Effects{}, silence([]string{s.owner()}, "rows"))
	case t == TimerAnnounce || t == TimerRows:
		return protocol.Effects{}, nil
	}
	return protocol.Effects{}, fmt.Errorf("okra: a server has no timer %q", t)
}
