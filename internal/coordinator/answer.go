package coordinator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/mercer-fl/mercer/internal/driver"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/internal/stage"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
)

// answer conducts the session that answers a party's question about new rows,
// or refuses it.
func (c *Coordinator) answer(ctx context.Context, in driver.Inbound) {
	defer c.acknowledge(in)
	m := in.Message
	q, err := session.DecodeQuestion(m.Body)
	if err != nil {
		c.Logger.Warn("a question that cannot be read", "party", m.Sender, "error", err)
		return
	}
	if err := c.answerQuestion(ctx, m.Sender, q); err != nil {
		c.Logger.Warn("refused a question", "party", m.Sender, "job", q.Job.String(), "error", err)
		body := (&session.Refusal{Code: session.CodeOf(err), Reason: err.Error()}).Encode()
		if err := c.exchange.Tell(ctx, m.Sender, q.Job.Topic(), session.KindRefusal, body); err != nil {
			c.Logger.Warn("could not answer a party", "party", m.Sender, "error", err)
		}
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
	s, err := c.readAnswers(&j, party, q.Tag)
	if err != nil {
		return err
	}
	return c.hold(ctx, &j, s)
}

// hold conducts a prediction session and destroys it.
func (c *Coordinator) hold(ctx context.Context, j *Job, s *stage.Session) error {
	_, err := c.conduct(ctx, j, session.StagePredict, s, nil)
	if errors.Is(err, driver.ErrInterrupted) {
		return err
	}
	outcome := "done"
	if err != nil {
		outcome = err.Error()
	}
	ps, sessionErr := protocol.NewSession(s.Descriptor(j.ID, session.StagePredict, c.Roster.Hash(), j.Attempt))
	if sessionErr != nil {
		return errors.Join(err, sessionErr)
	}
	c.exchange.Forget(ps.ID())
	c.mu.Lock()
	kept := c.resuming[ps.ID()]
	delete(c.resuming, ps.ID())
	c.mu.Unlock()
	if kept != nil {
		err = errors.Join(err, kept.Destroy(outcome))
	}
	return err
}

// readAnswers loads the model and what encodings must fit it.
func (c *Coordinator) readAnswers(j *Job, party string, tag [16]byte) (*stage.Session, error) {
	b, err := os.ReadFile(c.path(j.ID, answersFile))
	if err != nil {
		return nil, err
	}
	a, err := stage.DecodeAnswers(b)
	if err != nil {
		return nil, err
	}
	b, err = os.ReadFile(c.path(j.ID, modelFile))
	if err != nil {
		return nil, err
	}
	m, err := model.OpenPrivate(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return a.Answer(j.Spec, m, stage.Cast{Coordinator: c.name, Parties: []string{party}}, tag)
}
