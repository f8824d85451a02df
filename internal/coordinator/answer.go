package coordinator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/driver"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/internal/stage"
	"github.com/mercer-fl/mercer/internal/vault"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
)

// answer conducts the session that answers a party's question about new rows,
// or refuses it. A question that is cut short stays with the broker: the next
// process tells the party that nobody answers it.
func (c *Coordinator) answer(ctx context.Context, in driver.Inbound) {
	m := in.Message
	q, err := session.DecodeQuestion(m.Body)
	if err != nil {
		c.Logger.Warn("a question that cannot be read", "party", m.Sender, "error", err)
		c.acknowledge(in)
		return
	}
	err = c.answerQuestion(ctx, m.Sender, q)
	switch {
	case ctx.Err() != nil:
		return
	case errors.Is(err, errAnswering):
		c.later(in, waitForPlace)
		return
	case err != nil:
		c.tellWhy(ctx, m.Sender, q.Job.Topic(), session.KindRefusal, err)
	}
	c.acknowledge(in)
}

// tellWhy tells a party why a question, or all of a job's, have no answer.
func (c *Coordinator) tellWhy(ctx context.Context, party string, id protocol.SessionID, kind string, why error) {
	c.Logger.Warn("a question has no answer", "party", party, "session", id.String(), "error", why)
	body := (&session.Refusal{Code: session.CodeOf(why), Reason: session.Reason(why)}).Encode()
	if err := c.exchange.Tell(ctx, party, id, kind, body); err != nil {
		c.Logger.Warn("could not answer a party", "party", party, "error", err)
	}
}

func (c *Coordinator) answerQuestion(ctx context.Context, party string, q *session.Question) error {
	j, err := c.Get(q.Job)
	switch {
	case err != nil:
		return session.BadInput(err)
	case !slices.Contains(j.Spec.Parties(), party):
		return session.Forbidden(fmt.Errorf("%s took no part in job %v", party, q.Job))
	case j.State != Done:
		return session.BadInput(fmt.Errorf("job %v is %s; it has no model", q.Job, j.State))
	case j.Spec.Prediction != job.Open:
		return session.Forbidden(fmt.Errorf("job %v keeps predictions closed", q.Job))
	}
	if j.Spec.Protocol.Name.Vertical() {
		return c.inquire(ctx, &j, &session.Inquiry{Question: *q, Asker: party})
	}
	s, err := c.readAnswers(&j, party, q.Tag)
	var coded *session.Error
	if errors.As(err, &coded) {
		return err
	}
	if err != nil {
		return &session.Error{Code: session.CodeFailed, Err: err, Public: "the coordinator cannot read its model; its log says why"}
	}
	ps, err := protocol.NewSession(s.Descriptor(j.ID, session.StagePredict, c.Roster.Hash(), j.Attempt))
	if err != nil {
		return err
	}
	return c.hold(ctx, &j, s, party, ps.ID())
}

// errAnswering tells a repeated question from one that came before.
var errAnswering = errors.New("coordinator: the question is being answered")

// hold conducts a prediction session and destroys it.
func (c *Coordinator) hold(ctx context.Context, j *Job, s *stage.Session, party string, id protocol.SessionID) error {
	if !c.begin(id) {
		return errAnswering
	}
	defer c.end(id)
	_, err := c.conduct(ctx, j, session.StagePredict, s, nil)
	if errors.Is(err, driver.ErrInterrupted) {
		return err
	}
	dropped := c.drop(id, err)
	if errors.Is(err, vault.ErrUsed) {
		// The broker repeats a question, or a restart came between.
		err = errRestarted
	}
	if err != nil { // about this question only: the job's others may do better
		c.tellWhy(ctx, party, id, session.KindAbort, err)
	}
	return dropped
}

// begin takes a question up, unless it is being answered.
func (c *Coordinator) begin(id protocol.SessionID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answering[id] {
		return false
	}
	c.answering[id] = true
	return true
}

func (c *Coordinator) end(id protocol.SessionID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.answering, id)
}

// drop destroys a session that belongs to no running job.
func (c *Coordinator) drop(id protocol.SessionID, why error) error {
	c.exchange.Forget(id)
	c.mu.Lock()
	s, found := c.open[id]
	delete(c.open, id)
	c.mu.Unlock()
	if !found {
		return nil
	}
	outcome := "done"
	if why != nil {
		outcome = why.Error()
	}
	return s.Destroy(outcome)
}

// readAnswers loads the model and what encodings must fit it.
func (c *Coordinator) readAnswers(j *Job, party string, tag [16]byte) (*stage.Session, error) {
	b, err := c.left(j.ID, vault.Answers)
	if err != nil {
		return nil, err
	}
	a, err := stage.DecodeAnswers(b)
	if err != nil {
		return nil, err
	}
	b, err = c.left(j.ID, vault.Model)
	if err != nil {
		return nil, err
	}
	m, err := model.OpenPrivate(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return a.Answer(j.Spec, m, stage.Cast{Coordinator: c.name, Parties: []string{party}}, tag)
}
