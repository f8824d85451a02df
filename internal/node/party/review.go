package party

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/retention"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// review ends jobs that have been open here for too long, erases what is older than its limit, and asks
// the coordinator about the other jobs: the closing of such a job may have been lost with the broker's
// queues.
func (p *Party) review(ctx context.Context) {
	p.expire(ctx)
	p.eraseExpired()
	p.sweepSnapshots()
	p.forgetClosed()
	if err := p.askState(ctx); err != nil {
		p.Logger.Warn("could not ask the coordinator about the open jobs", "error", err)
	}
}

// expire destroys the jobs that the coordinator has not closed in time.
func (p *Party) expire(ctx context.Context) {
	for _, w := range p.jobs {
		age := time.Since(w.since())
		if age < p.Limits.Unclosed {
			continue
		}
		p.Logger.Warn("a job has not been closed in time", "job", w.id.String(), "since", w.since(), "limit", p.Limits.Unclosed.String())
		if err := p.end(ctx, w, fmt.Sprintf("%s had not closed it after %v", p.boss, p.Limits.Unclosed)); err != nil && !errors.Is(err, errStopping) {
			p.Logger.Error("could not destroy a job's secrets; the party will try again", "job", w.id.String(), "error", err)
		}
	}
}

// sweepSnapshots erases the snapshots of jobs that are not open. A crash can leave such a snapshot
// after the table is read and before the first session, or in the middle of the destruction.
func (p *Party) sweepSnapshots() {
	left, err := p.Snapshots.Jobs()
	for _, s := range left {
		if p.jobs[s.Job] == nil {
			err = errors.Join(err, p.eraseSnapshot(s.Job))
		}
	}
	if err != nil {
		p.Logger.Error("could not erase the rows that were read for ended jobs", "error", err)
	}
}

// since returns the time at which the first of the job's sessions was created.
func (w *work) since() time.Time {
	first := time.Now()
	for _, r := range w.sessions {
		if t := r.Created(); t.Before(first) {
			first = t
		}
	}
	return first
}

// eraseExpired erases what jobs have left that is older than the operator's limits.
func (p *Party) eraseExpired() {
	times := p.Limits.Retention
	if times.Models.IsZero() && times.Predictions.IsZero() {
		return
	}
	now, trusted := time.Now(), true
	if p.Today != nil {
		now, trusted = p.Today()
	}
	if !trusted {
		return
	}
	kept, err := p.Retained.Jobs()
	for _, k := range kept {
		err = errors.Join(err, p.eraseDue(k, now))
	}
	if err != nil {
		p.Logger.Error("could not erase the retained state of jobs after its time limit", "error", err)
	}
}

// eraseDue erases those parts of a job that are older than their limits.
func (p *Party) eraseDue(k vault.Retained, now time.Time) error {
	times := p.Limits.Retention
	if retention.Due(k.Since, times.Models, now) {
		if b, _ := p.Retained.Get(k.Job); method.IsFit(b) {
			return nil // a fit has no limit, because later jobs prepare their rows with it
		}
		_, err := p.Forget(k.Job)
		return err
	}
	if !retention.Due(k.Since, times.Predictions, now) {
		return nil
	}
	gone, err := p.Retained.EraseItems(k.Job, vault.Figures, vault.Alignment, vault.Recommendations, vault.Notices)
	p.noteErased(k.Job, gone)
	return err
}

// askingTime bounds how long the party waits to send its list of jobs when the broker's queue is
// full.
const askingTime = 10 * time.Second

// askState sends the coordinator the list of jobs whose state this party holds.
func (p *Party) askState(ctx context.Context) error {
	var all control.Holdings
	for id := range p.jobs {
		all = append(all, control.Holding{Job: id, Open: true})
	}
	for id := range p.awaits {
		all = append(all, control.Holding{Job: id, Open: true})
	}
	kept, err := p.Retained.Jobs()
	for _, k := range kept {
		if p.jobs[k.Job] == nil {
			all = append(all, control.Holding{Job: k.Job})
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askingTime)
	defer cancel()
	for part := range slices.Chunk(all, control.MaxHoldings) {
		err = errors.Join(err, p.tell(ctx, control.HoldingsTopic(), control.KindHoldings, part.Encode()))
	}
	return err
}

// end destroys a job that the coordinator has not closed, and reports this to the coordinator. It
// returns errStopping while the job's drivers are being stopped.
func (p *Party) end(ctx context.Context, w *work, why string) error {
	if w.active() {
		for _, r := range w.sessions {
			if r.active {
				r.cancel(errAborted(p.Name, why))
			}
		}
		return errStopping
	}
	ids := make([]*running, 0, len(w.sessions))
	for _, r := range w.sessions {
		if r.report == nil {
			ids = append(ids, r)
		}
	}
	if err := p.destroy(w, why); err != nil {
		return err
	}
	for _, r := range ids {
		p.lose(ctx, r.ID(), fault.Dropped)
	}
	if w.question != nil {
		p.reply(w.question, nil, &fault.Error{Code: fault.CodeFailed, Err: errors.New(why)})
	}
	return nil
}

// task is a function that the goroutine of Run executes for another goroutine.
type task struct {
	run  func(context.Context) error
	done chan error // buffered, so that Run need not wait for the reader
}

// inRun executes a function in the goroutine of Run, and returns its error.
func (p *Party) inRun(ctx context.Context, run func(context.Context) error) error {
	o := task{run, make(chan error, 1)}
	select {
	case p.tasks <- o:
		return <-o.done
	case <-ctx.Done():
		return ctx.Err()
	case <-p.over:
		return errStopped
	}
}

// Between runs change between two messages. So no proposal is judged partly by the settings before it and
// partly by those after it. It returns the error of change, or says why change did not run.
func (p *Party) Between(ctx context.Context, change func() error) error {
	return p.inRun(ctx, func(context.Context) error { return change() })
}

// Adopt is Between, and then puts another roster of the same federation in force. It ends the open
// sessions of jobs and questions with a member that the roster removes or gives other keys. All others
// continue. After an error of Between everything stays as it was. After another error the roster is in force.
func (p *Party) Adopt(ctx context.Context, next *roster.Roster, change func() error) error {
	return p.inRun(ctx, func(ctx context.Context) error {
		if err := change(); err != nil {
			return err
		}
		changes := roster.Compare(p.roster(), next)
		p.members.Store(next)
		p.router.SetRoster(next)
		var errs error
		for _, w := range p.jobs {
			if touched := roster.Touched(changes, w.parties()); len(touched) > 0 {
				why := fmt.Sprintf("the roster of %s has no %s any more, or has other keys", p.Name, strings.Join(touched, ", "))
				errs = errors.Join(errs, p.stopAll(ctx, w, errAborted(p.Name, why)))
			}
		}
		return errs
	})
}

// Drop destroys everything that this party holds for an open job. Afterwards the job cannot
// continue.
func (p *Party) Drop(ctx context.Context, id job.ID) error {
	for {
		err := p.inRun(ctx, func(ctx context.Context) error {
			w, open := p.jobs[id]
			if !open {
				return fault.BadInputf("job %v is not open here; mercer job forget erases the retained state of a finished job", id)
			}
			return p.end(ctx, w, "its operator has dropped it")
		})
		if !errors.Is(err, errStopping) {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
