package coordinator

import (
	"context"
	"errors"
	"time"

	"github.com/mercer-fl/mercer/internal/driver"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/internal/stage"
	"github.com/mercer-fl/mercer/internal/vault"
)

// inquire conducts the sessions that answer a question about rows whose columns
// several parties hold, and has everybody destroy them. Like every question it is
// not taken up again after a restart.
func (c *Coordinator) inquire(ctx context.Context, j *Job, a *asked) error {
	q := &session.Inquiry{Question: a.Question, Asker: a.party}
	held := &Job{ID: q.ID(), Spec: j.Spec, inquiry: q}
	wanted, end := a.until(ctx)
	defer end()
	err := c.answerByStages(wanted, held)
	if errors.Is(err, driver.ErrInterrupted) {
		return err
	}
	if errors.Is(err, vault.ErrUsed) {
		err = errRestarted
	}
	outcome := "done"
	if err != nil {
		outcome = err.Error()
		c.tellWhy(ctx, q.Asker, session.Topic(held.ID), session.KindRefusal, err)
	}
	closing := &session.Closing{Job: held.ID, Outcome: outcome, Done: err == nil}
	if err := c.part(ctx, held, closing); err != nil {
		c.Logger.Warn("a party has not confirmed that it destroyed a question's secrets; the broker will tell it when it comes back",
			"question", held.ID.String(), "error", err)
	}
	return c.destroySessions(held.ID, outcome)
}

// errRestarted says that a question came before a restart, or came twice.
var errRestarted = errors.New("the coordinator was restarted; ask again")

// answerByStages runs the stages of a question.
func (c *Coordinator) answerByStages(ctx context.Context, held *Job) error {
	cast := c.cast(held.ID, held.Spec)
	srv, basis, err := c.readBasis(held)
	var coded *fault.Error
	if errors.As(err, &coded) {
		return err
	}
	if err != nil {
		return &fault.Error{Code: fault.CodeFailed, Err: err, Public: "the coordinator cannot read its part of the model; its log says why"}
	}
	plan, err := stage.PlanInquiry(held.Spec, cast, held.inquiry.Asker, basis)
	if err != nil {
		return fault.BadInput(err)
	}
	account := newAccount(c.Usage)
	for i, st := range plan {
		began := time.Now()
		if err := c.step(ctx, held, uint16(i), st, srv, account); err != nil {
			return err
		}
		account.stage(st.Name, time.Since(began))
	}
	c.Logger.Info("answered a question", "job", held.inquiry.Job.String(), "party", held.inquiry.Asker, "seconds", account.timings["total"])
	return nil
}

// readBasis loads what the coordinator keeps of a model by columns.
func (c *Coordinator) readBasis(held *Job) (*stage.Server, stage.Basis, error) {
	b, err := c.left(held.inquiry.Job, vault.Answers)
	if err != nil {
		return nil, stage.Basis{}, err
	}
	return stage.OpenAnswers(held.Spec, c.cast(held.ID, held.Spec), b)
}
