package coordinator

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// hearQuestion queues a party's prediction query until the coordinator can answer it. If too many
// queries of the party are in the queue, hearQuestion tells the party to ask again later, so that
// other parties' queries are not delayed.
func (c *Coordinator) hearQuestion(ctx context.Context, in driver.Inbound, running *sync.WaitGroup) {
	body, err := control.DecodeQuestion(in.Message.Body)
	if err != nil {
		c.complain("a question that cannot be read", in.Message.Sender, "error", err)
		c.acknowledge(in)
		return
	}
	q := &asked{Question: *body, party: in.Message.Sender, in: in, overtaken: make(chan struct{})}
	switch c.questions.admit(q) {
	case repeated:
		c.later(in, waitForPlace) // do not acknowledge the second copy, because the broker could also drop the first one
	case refused:
		c.acknowledge(in)
		if c.questions.beginRefusal(q.party) {
			running.Go(func() {
				defer c.questions.endRefusal(q.party)
				c.sendBusy(ctx, q)
			})
		}
	case admission:
		c.answerNext(ctx, running)
	}
}

// sendBusy asks a party to send its prediction query again later.
func (c *Coordinator) sendBusy(ctx context.Context, q *asked) {
	c.complain("a party asks more questions at a time than it may", q.party, "most", maxHeld)
	ctx, cancel := context.WithTimeout(ctx, partingTime)
	defer cancel()
	if err := c.router.Tell(ctx, q.party, control.Topic(q.Job), control.KindBusy, q.Question.Encode()); err != nil {
		c.Logger.Warn("could not answer a party", "party", q.party, "error", err)
	}
}

// errOvertaken ends the answer to a prediction query after the same party has sent a newer query.
var errOvertaken = errors.New("the party has sent another query meanwhile")

// untilOvertaken returns a context that ends some time after the party has asked another question.
// The sessions that answer the query run under this context.
func (q *asked) untilOvertaken(ctx context.Context) (context.Context, func()) {
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

// answerNext starts a goroutine that answers the next waiting query, if the limits allow it.
func (c *Coordinator) answerNext(ctx context.Context, running *sync.WaitGroup) {
	q := c.questions.nextQuery()
	if q == nil {
		return
	}
	running.Go(func() {
		c.answer(ctx, q)
		c.questions.done(q)
		if ctx.Err() == nil {
			c.answerNext(ctx, running)
		}
	})
}

// answer runs the sessions that answer a party's prediction query, or refuses the query. If this
// process ends before the answer, the broker delivers the query to the next process. That process
// tells the party to ask again if a session of the answer had begun, and otherwise answers.
func (c *Coordinator) answer(ctx context.Context, q *asked) {
	err := c.answerQuestion(ctx, q)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		c.tellWhy(ctx, q.party, control.Topic(q.Job), control.KindRefusal, err)
	}
	c.acknowledge(q.in)
}

// tellWhy tells a party why the coordinator cannot answer its prediction query. It gives up after a
// while if the party does not listen.
func (c *Coordinator) tellWhy(ctx context.Context, party string, id protocol.SessionID, kind string, why error) {
	c.complain("a question has no answer", party, "session", id.String(), "error", why)
	ctx, cancel := context.WithTimeout(ctx, partingTime)
	defer cancel()
	body := control.Refuse(why).Encode()
	if err := c.router.Tell(ctx, party, id, kind, body); err != nil {
		c.Logger.Warn("could not answer a party", "party", party, "error", err)
	}
}

func (c *Coordinator) answerQuestion(ctx context.Context, q *asked) error {
	j, err := c.get(q.Job)
	switch {
	case err != nil:
		return fault.Public(fault.BadInput(err))
	case !slices.Contains(j.Spec.Parties(), q.party):
		return fault.Forbiddenf("party %s took no part in job %v", q.party, q.Job)
	case j.State != overview.Done:
		return fault.Public(fault.BadInputf("job %v is %s; it has no model", q.Job, j.State))
	case j.Spec.Prediction != job.Open:
		return fault.Forbiddenf("job %v keeps predictions closed", q.Job)
	}
	opened, err := c.openAnswers(&j)
	if err != nil {
		return err
	}
	defer opened.Erase()
	about := method.Question{Instance: c.instance(j.ID, j.Spec), Asker: q.party, Tag: q.Tag}
	about.Parties = opened.Among(about)
	if len(about.Parties) == 1 {
		return c.answerAlone(ctx, &j, opened, about, q)
	}
	return c.inquire(ctx, &j, opened, about, q)
}

// answerAlone runs the session of a prediction query that involves only the coordinator and one
// party. It then destroys the session, except after an interruption.
func (c *Coordinator) answerAlone(ctx context.Context, j *Job, opened method.Inquirer, about method.Question, q *asked) error {
	w, err := queryCourse(opened, about, j)
	if err != nil {
		return err
	}
	among, err := c.roster().Subset(w.parties)
	if err != nil {
		return fault.Public(fault.BadInput(err))
	}
	ps, err := protocol.NewSession(w.plan[0].Session.Descriptor(j.ID, control.StagePredict, among.Hash(), j.Attempt))
	if err != nil {
		return err
	}
	wanted, end := q.untilOvertaken(ctx)
	defer end()
	_, err = c.conduct(wanted, w, control.StagePredict, w.plan[0])
	if errors.Is(err, driver.ErrInterrupted) {
		return err
	}
	dropped := c.drop(ps.ID(), err)
	if errors.Is(err, vault.ErrUsed) {
		// The session's id was used before: the query arrived twice, or the coordinator restarted
		// meanwhile.
		err = errRestarted
	}
	if err != nil { // abort only this query's session, because the party's other queries may succeed
		c.tellWhy(ctx, q.party, ps.ID(), control.KindAbort, err)
	}
	return dropped
}

// queryCourse returns a course for running the plan of a prediction query.
func queryCourse(opened method.Inquirer, about method.Question, j *Job) (*course, error) {
	w := &course{job: j, parties: about.Parties}
	var err error
	if w.plan, err = opened.Plan(about); err == nil {
		w.hub, err = opened.Server(about)
	}
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return w, nil
}

// drop destroys the only session of a prediction query that answerAlone has answered.
func (c *Coordinator) drop(id protocol.SessionID, why error) error {
	c.router.Forget(id)
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

// openAnswers opens the state that the coordinator retained for prediction queries about a job's
// model.
func (c *Coordinator) openAnswers(j *Job) (method.Inquirer, error) {
	opened, err := c.readAnswers(j)
	var coded *fault.Error
	if err != nil && !errors.As(err, &coded) {
		err = fault.Kept.Of(err)
	}
	return opened, err
}

func (c *Coordinator) readAnswers(j *Job) (method.Inquirer, error) {
	b, err := c.readArtifact(j.ID, vault.Answers)
	if err != nil {
		return nil, err
	}
	k, err := method.DecodeRetained(b)
	if err != nil {
		return nil, err
	}
	m, err := method.Of(j.Spec)
	if err != nil {
		return nil, err
	}
	if !m.Answers() {
		return nil, fault.Public(fault.BadInputf("protocol %s answers no questions about new rows; predict with the job's model", m.Name()))
	}
	opened, err := m.OpenServer(c.instance(j.ID, j.Spec), k, func() ([]byte, error) { return c.readArtifact(j.ID, vault.Model) })
	if err != nil {
		return nil, err
	}
	asked, ok := opened.(method.Inquirer)
	if !ok {
		return nil, fault.Public(fault.BadInputf("the coordinator answers no questions about models of protocol %s; predict with the party's own model", m.Name()))
	}
	return asked, nil
}

// inquire answers a prediction query for which several parties hold columns of the rows. It runs
// the sessions of the query's plan, and then, except after an interruption, all members destroy these
// sessions. Like every question, this one is not resumed after a restart.
func (c *Coordinator) inquire(ctx context.Context, j *Job, opened method.Inquirer, about method.Question, a *asked) error {
	q := &control.Inquiry{Question: a.Question, Asker: a.party}
	held := &Job{ID: q.ID(), Spec: j.Spec, inquiry: q}
	about.ID = held.ID
	wanted, end := a.untilOvertaken(ctx)
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
		outcome = fault.NoticeOf(err).Sentence()
		c.tellWhy(ctx, q.Asker, control.Topic(held.ID), control.KindRefusal, err)
	}
	closing := &control.Closing{Job: held.ID, Outcome: outcome, Done: err == nil}
	if err := c.sendClosing(ctx, held, closing); err != nil {
		c.Logger.Warn("a party has not confirmed that it destroyed a question's secrets; the broker delivers the request when it comes back",
			"question", held.ID.String(), "error", err)
	}
	return c.destroySessions(held.ID, outcome)
}

// errRestarted rejects a prediction query that arrived twice, or that a restart interrupted.
var errRestarted = fault.Publicf("the coordinator was restarted; ask again")

// answerBySteps runs the steps of a prediction query's plan.
func (c *Coordinator) answerBySteps(ctx context.Context, held *Job, opened method.Inquirer, about method.Question) error {
	w, err := queryCourse(opened, about, held)
	if err != nil {
		return err
	}
	w.account = newAccount(c.Usage)
	if err := c.runPlan(ctx, w, func(string) error { return nil }); err != nil {
		return err
	}
	c.Logger.Info("answered a question", "job", held.inquiry.Job.String(), "party", held.inquiry.Asker, "seconds", w.account.timings["total"])
	return nil
}
