package coordinator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mercer-fl/mercer/internal/driver"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/internal/stage"
	"github.com/mercer-fl/mercer/internal/vault"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
)

// hearQuestion has a question answered when its party and the coordinator have a
// place for it. A party that asks more than it may is told to ask again; nothing of
// others waits for it.
func (c *Coordinator) hearQuestion(ctx context.Context, in driver.Inbound, running *sync.WaitGroup) {
	body, err := session.DecodeQuestion(in.Message.Body)
	if err != nil {
		c.Logger.Warn("a question that cannot be read", "party", in.Message.Sender, "error", err)
		c.acknowledge(in)
		return
	}
	q := &asked{Question: *body, party: in.Message.Sender, in: in, overtaken: make(chan struct{})}
	switch c.desk.admit(q) {
	case repeated:
		c.later(in, waitForPlace) // acknowledged, it would be so at the broker too
	case refused:
		c.acknowledge(in)
		if c.desk.refuse(q.party) {
			running.Go(func() {
				defer c.desk.told(q.party)
				c.putOff(ctx, q)
			})
		}
	case admitted:
		c.answerNext(ctx, running)
	}
}

// putOff tells a party that it has to ask again later.
func (c *Coordinator) putOff(ctx context.Context, q *asked) {
	c.Logger.Warn("a party asks more questions at a time than it may", "party", q.party, "most", maxHeld)
	ctx, cancel := context.WithTimeout(ctx, partingTime)
	defer cancel()
	if err := c.exchange.Tell(ctx, q.party, session.Topic(q.Job), session.KindBusy, q.Question.Encode()); err != nil {
		c.Logger.Warn("could not answer a party", "party", q.party, "error", err)
	}
}

// errOvertaken ends the answer to a question that its party no longer waits for.
var errOvertaken = errors.New("its party has asked another question meanwhile")

// until is a context for the sessions that answer a question; it ends when the party
// has asked another.
func (q *asked) until(ctx context.Context) (context.Context, func()) {
	ctx, stop := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-q.overtaken:
			stop(protocol.Blame(q.party, protocol.KindAborted, errOvertaken))
		case <-ctx.Done():
		}
	}()
	return ctx, func() { stop(nil) }
}

// answerNext has the next question answered beside everything else, if there is one
// and a place for it.
func (c *Coordinator) answerNext(ctx context.Context, running *sync.WaitGroup) {
	q := c.desk.next()
	if q == nil {
		return
	}
	running.Go(func() {
		c.answer(ctx, q)
		c.desk.done(q)
		if ctx.Err() == nil {
			c.answerNext(ctx, running)
		}
	})
}

// answer conducts the session that answers a party's question about new rows,
// or refuses it. A question that is cut short stays with the broker: the next
// process tells the party that nobody answers it.
func (c *Coordinator) answer(ctx context.Context, q *asked) {
	err := c.answerQuestion(ctx, q)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		c.tellWhy(ctx, q.party, session.Topic(q.Job), session.KindRefusal, err)
	}
	c.acknowledge(q.in)
}

// tellWhy tells a party why a question, or all of a job's, have no answer. It does
// not wait for ever until the party listens.
func (c *Coordinator) tellWhy(ctx context.Context, party string, id protocol.SessionID, kind string, why error) {
	c.Logger.Warn("a question has no answer", "party", party, "session", id.String(), "error", why)
	ctx, cancel := context.WithTimeout(ctx, partingTime)
	defer cancel()
	body := (&session.Refusal{Code: fault.CodeOf(why), Reason: fault.Reason(why)}).Encode()
	if err := c.exchange.Tell(ctx, party, id, kind, body); err != nil {
		c.Logger.Warn("could not answer a party", "party", party, "error", err)
	}
}

func (c *Coordinator) answerQuestion(ctx context.Context, q *asked) error {
	j, err := c.Get(q.Job)
	switch {
	case err != nil:
		return fault.BadInput(err)
	case !slices.Contains(j.Spec.Parties(), q.party):
		return fault.Forbidden(fmt.Errorf("%s took no part in job %v", q.party, q.Job))
	case j.State != Done:
		return fault.BadInput(fmt.Errorf("job %v is %s; it has no model", q.Job, j.State))
	case j.Spec.Prediction != job.Open:
		return fault.Forbidden(fmt.Errorf("job %v keeps predictions closed", q.Job))
	}
	if j.Spec.Protocol.Name.Vertical() {
		return c.inquire(ctx, &j, q)
	}
	s, err := c.readAnswers(&j, q.party, q.Tag)
	var coded *fault.Error
	if errors.As(err, &coded) {
		return err
	}
	if err != nil {
		return &fault.Error{Code: fault.CodeFailed, Err: err, Public: "the coordinator cannot read its model; its log says why"}
	}
	ps, err := protocol.NewSession(s.Descriptor(j.ID, session.StagePredict, c.Roster.Hash(), j.Attempt))
	if err != nil {
		return err
	}
	return c.hold(ctx, &j, s, q, ps.ID())
}

// hold conducts a prediction session and destroys it.
func (c *Coordinator) hold(ctx context.Context, j *Job, s *stage.Session, q *asked, id protocol.SessionID) error {
	wanted, end := q.until(ctx)
	defer end()
	srv := stage.NewServer(j.Spec, c.toOne(j.ID, q.party)) // the session needs nothing of a job's stages
	_, err := c.conduct(wanted, j, session.StagePredict, stage.Stage{Name: "predict", Session: s}, srv)
	if errors.Is(err, driver.ErrInterrupted) {
		return err
	}
	dropped := c.drop(id, err)
	if errors.Is(err, vault.ErrUsed) {
		// The broker repeats a question, or a restart came between.
		err = errRestarted
	}
	if err != nil { // about this question only: the job's others may do better
		c.tellWhy(ctx, q.party, id, session.KindAbort, err)
	}
	return dropped
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

// toOne names who takes part in an answer to one party.
func (c *Coordinator) toOne(id job.ID, party string) stage.Cast {
	return stage.Cast{ID: id, Coordinator: c.name, Parties: []string{party}}
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
	return a.Answer(j.Spec, m, c.toOne(j.ID, party), tag)
}
