package coordinator

import (
	"context"
	"errors"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// inquire conducts the sessions that answer a question about rows whose columns
// several parties hold, and has everybody destroy them. Like every question it is
// not taken up again after a restart.
func (c *Coordinator) inquire(ctx context.Context, j *Job, opened inquirer, about method.Question, a *asked) error {
	q := &control.Inquiry{Question: a.Question, Asker: a.party}
	held := &Job{ID: q.ID(), Spec: j.Spec, inquiry: q}
	about.ID = held.ID
	wanted, end := a.until(ctx)
	defer end()
	err := c.answerBySteps(wanted, held, opened, about)
	if errors.Is(err, driver.ErrInterrupted) {
		return err
	}
	if errors.Is(err, vault.ErrUsed) {
		err = errRestarted
	}
	outcome := "done"
	if err != nil {
		outcome = err.Error()
		c.tellWhy(ctx, q.Asker, control.Topic(held.ID), control.KindRefusal, err)
	}
	closing := &control.Closing{Job: held.ID, Outcome: outcome, Done: err == nil}
	if err := c.part(ctx, held, closing); err != nil {
		c.Logger.Warn("a party has not confirmed that it destroyed a question's secrets; the broker will tell it when it comes back",
			"question", held.ID.String(), "error", err)
	}
	return c.destroySessions(held.ID, outcome)
}

// errRestarted rejects a question that came before a restart, or came twice.
var errRestarted = errors.New("the coordinator was restarted; ask again")

// answerBySteps runs the steps of a question.
func (c *Coordinator) answerBySteps(ctx context.Context, held *Job, opened inquirer, about method.Question) error {
	w, err := questioned(opened, about, held)
	if err != nil {
		return err
	}
	w.account = newAccount(c.Usage)
	if err := c.walk(ctx, w, func(string) error { return nil }); err != nil {
		return err
	}
	c.Logger.Info("answered a question", "job", held.inquiry.Job.String(), "party", held.inquiry.Asker, "seconds", w.account.timings["total"])
	return nil
}
