package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// run takes one job to its outcome and closes it. It returns an error only if the coordinator must
// stop.
func (c *Coordinator) run(ctx context.Context, j *Job) error {
	now, err := c.get(j.ID) // read the status again, because the operator may have aborted the job
	if err != nil {
		return err
	}
	if now.State != overview.Closing {
		err := c.attempt(ctx, j)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the next process continues the job
		}
		if errors.Is(err, driver.ErrInterrupted) {
			return err // such as a disk error, which this process cannot repair
		}
		if err := c.storeOutcome(j, err); errors.Is(err, errAborted) {
			return nil // the job was aborted before it began
		} else if err != nil {
			return err
		}
	}
	return c.close(ctx, j)
}

// attempt runs a job until its deadline. The operator can abort it meanwhile. An abort or the deadline ends the
// job, but does not count as an interruption of this process.
func (c *Coordinator) attempt(ctx context.Context, j *Job) error {
	ctx, end := c.stoppable(ctx, j.ID)
	defer end()
	err := c.work(ctx, j)
	if errors.Is(context.Cause(ctx), errAborted) {
		return errAborted
	}
	return err
}

// course is the state of one run of a plan, either of a job or of a prediction query.
type course struct {
	job     *Job
	parties []string // the parties to whose keys each session is bound
	plan    []method.Step
	hub     *method.CoordinatorSide // the coordinator's side of the protocol
	account *account
	ends    []method.End // ends of the earlier sessions
}

// work runs the job's steps and keeps its artifacts and result.
func (c *Coordinator) work(ctx context.Context, j *Job) error {
	if err := c.takeFit(j); err != nil {
		return err
	}
	if err := c.takeAlignment(j); err != nil {
		return err
	}
	instance := c.instance(j.ID, j.Spec)
	m, err := method.Of(j.Spec)
	if err != nil {
		return fault.BadInput(err)
	}
	w := &course{job: j, parties: j.Spec.Parties(), account: newAccount(c.Usage)}
	if w.plan, err = m.Plan(instance); err == nil {
		w.hub, err = m.Server(instance)
	}
	if err != nil {
		return fault.BadInput(err)
	}
	if err := c.resumeFrom(w.hub); err != nil {
		return err
	}
	err = c.runPlan(ctx, w, func(name string) error { return c.setStatus(j, beginStage(name)) })
	if err != nil {
		return err
	}
	return c.keepResults(w)
}

// resumeFrom loads the state of an earlier job, if this job was submitted to continue it.
func (c *Coordinator) resumeFrom(h *method.CoordinatorSide) error {
	next := h.Later
	if next == nil || !next.Continues {
		return nil
	}
	rest, err := c.readArtifact(next.Earlier, vault.Rows)
	if err == nil {
		err = next.Resume(rest)
	}
	return err
}

// beginStage returns a function that marks a job as running the given stage. The function fails if
// the job was aborted.
func beginStage(stage string) func(*Status) error {
	return func(s *Status) error {
		if s.Failure != nil {
			return errAborted
		}
		s.State, s.Stage, s.StageSince = overview.Running, stage, overview.Now()
		if s.Started.IsZero() {
			s.Started = s.StageSince
		}
		return nil
	}
}

// runPlan runs the steps of a plan in order. It calls begins before each step, and reports the step's
// name as progress without a total.
func (c *Coordinator) runPlan(ctx context.Context, w *course, begins func(step string) error) error {
	for i, step := range w.plan {
		if err := begins(step.Name); err != nil {
			return err
		}
		c.report(w.job, protocol.Progress{Stage: step.Name})
		began := time.Now()
		if err := c.runStep(ctx, w, uint16(i), step); err != nil {
			return err
		}
		took := time.Since(began)
		w.account.step(step.Name, took)
		c.record(w.job, slog.LevelInfo, "a stage has ended", overview.Event{Kind: overview.StageEnded, Stage: step.Name}, "seconds", took.Seconds())
	}
	return nil
}

// report records the progress of a job for those who ask for the job, and passes it on. Progress
// without a total means that a stage begins, which has reported no part yet.
func (c *Coordinator) report(j *Job, p protocol.Progress) {
	c.mu.Lock()
	if j.Part = p; p.Total == 0 {
		j.Part = protocol.Progress{}
	}
	c.mu.Unlock()
	c.Progress(j.ID, p)
}

// runStep runs one step of a plan, with or without a session.
func (c *Coordinator) runStep(ctx context.Context, w *course, i uint16, step method.Step) error {
	if step.Session == nil {
		err := c.compute(ctx, w, int(i))
		if late(ctx, err) {
			why := &fault.Error{Code: fault.CodeTimedOut, Err: fmt.Errorf("%s was still computing", c.name)}
			err = fmt.Errorf("stage %s: %w", step.Name, overdue(w.job, step.Name, why))
		}
		return err
	}
	reports, err := c.conduct(ctx, w, i, step)
	if err != nil {
		return fmt.Errorf("stage %s: %w", step.Name, err)
	}
	w.account.add(reports)
	return nil
}

// compute runs a step in which only the coordinator computes. If the context ends, compute returns
// without waiting for the computation. The computation then ends soon.
func (c *Coordinator) compute(ctx context.Context, w *course, step int) error {
	done := make(chan error, 1)
	go func() {
		done <- w.hub.Compute(ctx, step, func(p protocol.Progress) {
			if ctx.Err() == nil {
				c.report(w.job, p)
			}
		})
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return interrupted(ctx)
	}
}

// storeOutcome writes the job's outcome to disk before the job's state is destroyed. If the
// operator has aborted the job, that outcome stays.
func (c *Coordinator) storeOutcome(j *Job, err error) error {
	return c.setStatus(j, func(s *Status) error {
		switch {
		case s.Over():
			return errAborted
		case s.Failure != nil:
		case err != nil:
			s.Failure, s.Rejection = failure(err), rejection(err)
		}
		s.State, s.Stage, s.StageSince = overview.Closing, "", time.Time{}
		return nil
	})
}

func failure(err error) *Failure {
	f := &Failure{Code: fault.CodeOf(err), Message: err.Error(), Told: fault.NoticeOf(err).Sentence()}
	var blame *protocol.BlameError
	var coded *fault.Error
	switch {
	case errors.As(err, &coded) && coded.Blamed != "":
		f.Blamed = coded.Blamed
	case errors.As(err, &blame):
		f.Blamed = blame.Party
	}
	return f
}

// rejection says which party's operator has rejected a job, or returns nil if something else has ended it.
func rejection(err error) *Rejection {
	var rejected *rejectedError
	if errors.As(err, &rejected) {
		return &rejected.Rejection
	}
	return nil
}

// close ends a job after its outcome is on disk. It tells every party to destroy the job's secrets,
// waits a while for their answers, destroys the coordinator's own secrets, and marks the job as ended.
func (c *Coordinator) close(ctx context.Context, j *Job) error {
	closing, err := c.closing(j)
	if err != nil {
		return err
	}
	if err := c.sendClosing(ctx, j, closing); err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the next process closes the job
		}
		c.Logger.Warn("a party has not confirmed that it destroyed a job's secrets; the broker delivers the request when it comes back",
			"job", j.ID.String(), "error", err)
	}
	residue := ""
	err = c.destroy(j, closing.Outcome)
	if w := c.turns.Of(j.ID); w != nil {
		err = errors.Join(err, w.Discard())
	}
	if err != nil {
		// The coordinator continues after this error, so that other jobs do not wait for one file.
		residue = err.Error()
		c.Logger.Error("part of a job could not be destroyed; the coordinator tries again when it starts", "job", j.ID.String(), "error", err)
	}
	return c.setStatus(j, func(s *Status) error {
		s.State, s.Residue, s.Ended = overview.Done, residue, overview.Now()
		if s.Failure != nil {
			s.State = overview.Failed
		}
		return nil
	})
}

// closing returns the message that tells a party how the job has ended.
func (c *Coordinator) closing(j *Job) (*control.Closing, error) {
	outcome := "done"
	switch {
	case j.Failure != nil:
		outcome = cmp.Or(j.Failure.Told, "failed")
	case j.Forgotten:
		return &control.Closing{Job: j.ID, Outcome: "done, and forgotten since"}, nil
	}
	classes, err := c.classNames(j)
	return &control.Closing{Job: j.ID, Outcome: outcome, Done: j.Failure == nil, Closing: method.Closing{Classes: classes}}, err
}

// classNames returns the names of the classes, which parties need to read predictions. It returns
// nil for a job that failed or keeps predictions closed.
func (c *Coordinator) classNames(j *Job) ([]string, error) {
	if j.Failure != nil || j.Spec.Prediction != job.Open {
		return nil, nil
	}
	o, err := c.readOutcome(j.ID)
	if err != nil {
		return nil, err
	}
	return o.Classes, nil
}

// partingTime bounds how long the coordinator waits for absent parties when a job, a session or a
// prediction query ends, or when a job is erased.
const partingTime = 10 * time.Second

// sendClosing tells a job's parties how the job has ended, and waits for their answers.
func (c *Coordinator) sendClosing(ctx context.Context, j *Job, closing *control.Closing) error {
	missing, err := c.announce(ctx, j, notice{control.KindClosing, closing.Encode(), control.KindClosed}, func(protocol.Message) {})
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("parties %v have not answered", missing)
	}
	return err
}

// notice holds a message to all parties of a job and the expected kind of answer.
type notice struct {
	kind   string
	body   []byte
	answer string
}

// announce sends a message to all parties of a job and waits for their answers, until a time limit.
// Parties that are no longer in the roster get no message. announce calls note with each answer, and
// returns the parties that have not answered. The broker keeps the message for them.
func (c *Coordinator) announce(ctx context.Context, j *Job, say notice, note func(protocol.Message)) (missing []string, err error) {
	waiting, cancel := context.WithTimeout(ctx, min(partingTime, j.Spec.Timeout.Join))
	defer cancel()
	inbox, hangUp := c.listen(control.Topic(j.ID))
	defer hangUp()
	missing = c.inRoster(j.Spec.Parties())
	if err := c.tellAll(waiting, missing, control.Topic(j.ID), say.kind, say.body); err != nil {
		return missing, err
	}
	for len(missing) > 0 {
		select {
		case in := <-inbox:
			if in.Message.Kind == say.answer {
				note(in.Message)
				missing = slices.DeleteFunc(missing, func(name string) bool { return name == in.Message.Sender })
			}
			c.acknowledge(in)
		case <-waiting.Done():
			return missing, ctx.Err()
		}
	}
	return nil, nil
}

// tellAll sends a control message to several parties in parallel, so that one party's full queue
// does not delay the others' messages.
func (c *Coordinator) tellAll(ctx context.Context, names []string, id protocol.SessionID, kind string, body []byte) error {
	return errors.Join(c.tellEach(ctx, names, id, kind, body)...)
}

// tellEach sends a control message to several parties in parallel and returns an error for each
// party.
func (c *Coordinator) tellEach(ctx context.Context, names []string, id protocol.SessionID, kind string, body []byte) []error {
	errs := make([]error, len(names))
	var sending sync.WaitGroup
	for i, name := range names {
		sending.Go(func() { errs[i] = c.router.Tell(ctx, name, id, kind, body) })
	}
	sending.Wait()
	return errs
}

// destroy erases the coordinator's own sessions of a job, and the artifacts and the result if the job
// failed.
func (c *Coordinator) destroy(j *Job, outcome string) error {
	var errs error
	if j.Failure != nil {
		errs = c.discard(j.ID)
	}
	return errors.Join(errs, c.destroySessions(j.ID, outcome))
}

// discard removes the artifacts and the result of a failed job.
func (c *Coordinator) discard(id job.ID) error {
	_, err := c.Artifacts.Erase(id)
	if rm := os.Remove(c.path(id, resultFile)); !errors.Is(rm, fs.ErrNotExist) {
		err = errors.Join(err, rm)
	}
	return err
}

// destroySessions erases the coordinator's remaining sessions of a job or prediction query.
func (c *Coordinator) destroySessions(of job.ID, outcome string) error {
	var errs error
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, s := range c.open {
		if s.job == of {
			c.router.Forget(id)
			errs = errors.Join(errs, s.Destroy(outcome))
			delete(c.open, id)
		}
	}
	return errs
}
