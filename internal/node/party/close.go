package party

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/overview"
	"github.com/mercer-fl/mercer/protocol"
)

// stop ends an open session for the given reason.
func (p *Party) stop(ctx context.Context, r *running, reason error) error {
	if !r.active {
		return p.conclude(ctx, finished{r: r, err: reason})
	}
	r.cancel(reason)
	return nil
}

// errStopping reports that a driver of the job is still running. The closing is put back and not
// acknowledged until no driver runs, so that a crash in between does not leave the secrets.
var errStopping = notNow(errors.New("party: the job's sessions are being stopped"))

// close ends a job: it stops the job's sessions, then destroys the party's state of the job. It
// also answers a closing for an unknown job, because the answer to an earlier closing may have been
// lost.
func (p *Party) close(ctx context.Context, m protocol.Message) error {
	c, err := control.DecodeClosing(m.Body)
	if err != nil {
		return err
	}
	w, known := p.jobs[c.Job]
	if !known {
		if err := p.closeAwaiting(c.Job); err != nil {
			return notNow(err)
		}
		return p.closed(ctx, c)
	}
	if w.active() {
		for _, r := range w.sessions {
			if r.active {
				r.cancel(errAborted(p.boss, c.Outcome))
			}
		}
		return errStopping
	}
	if w.inquiry != nil {
		return p.closeInquiry(ctx, w, c)
	}
	if c.Done && w.job.Prediction == job.Open {
		// An error here must not prevent the destruction of the job's secrets. A job that failed
		// early, or that a crash has half destroyed, has nothing to keep.
		if err := p.keepPredictor(w, c); err != nil {
			p.Logger.Error("could not keep the state for predictions", "job", w.id.String(), "error", err)
		}
	}
	if c.Done {
		p.keepForLater(w)
		p.hand(w)
		p.keepDescription(w)
	}
	if err := p.destroy(w, c.Outcome); err != nil {
		return notNow(fmt.Errorf("party: %w", err))
	}
	return p.closed(ctx, c)
}

// closeInquiry ends a question. It destroys all state of the question and keeps the job's retained
// state.
func (p *Party) closeInquiry(ctx context.Context, w *work, c *control.Closing) error {
	if q := w.question; q != nil {
		if c.Done {
			a, err := answer(w.holder())
			p.reply(q, a, err)
		} else {
			p.reply(q, nil, &fault.Error{Code: fault.CodeFailed, Err: errors.New(c.Outcome)})
		}
	}
	w.opened.Erase()
	if err := p.destroy(w, c.Outcome); err != nil {
		return notNow(fmt.Errorf("party: %w", err))
	}
	return p.closed(ctx, c)
}

// keepPredictor stores the state that later predictions need. The state is the encoder's secret, a
// model, or this party's part of a model.
func (p *Party) keepPredictor(w *work, c *control.Closing) error {
	h := w.holder()
	if h.Keep == nil {
		return errors.New("party: the job has no state to answer questions with")
	}
	kept, err := h.Keep(c.Closing)
	if err != nil {
		return err
	}
	if h.Preparation != nil {
		if made := h.Preparation(); made != nil {
			kept.Prepared = made.Encode()
		}
	}
	return p.Retained.Put(w.id, kept.Encode())
}

// keepForLater stores the state with which a later job can continue this job.
func (p *Party) keepForLater(w *work) {
	l := w.holder().Later
	if l == nil || !l.Lasts() {
		return
	}
	var b bytes.Buffer
	err := l.Write(&b)
	if err == nil {
		err = p.Retained.Put(w.id, b.Bytes())
	}
	clear(b.Bytes())
	if err != nil {
		p.Logger.Error("could not keep the state for a job that continues this one", "job", w.id.String(), "error", err)
	}
}

// hand stores the results of a finished job that are for this party's operator only, and the alignment of rows for
// later jobs.
func (p *Party) hand(w *work) {
	h := w.holder()
	if h.Order != nil && h.Order() != nil {
		if err := p.Aligned(w.id, h.Order()); err != nil {
			p.Logger.Error("could not keep the order of a job's rows", "job", w.id.String(), "error", err)
		}
	}
	if h.Alignment != nil {
		if kept := h.Alignment(); kept != nil {
			if err := p.Alignments.Put(w.id, kept); err != nil {
				p.Logger.Error("could not keep the alignment of a job's rows for later jobs", "job", w.id.String(), "error", err)
			}
		}
	}
	if h.Judged != nil {
		if err := p.handJudged(w, h.Judged); err != nil {
			p.Logger.Error("could not keep a job's predictions of held-out rows", "job", w.id.String(), "error", err)
		}
	}
	if h.Recommended != nil && h.Recommended() != nil {
		if err := p.Recommended(w.id, h.Recommended()); err != nil {
			p.Logger.Error("could not keep a job's recommendations", "job", w.id.String(), "error", err)
		}
	}
	if lines := noticesOf(w); lines != nil {
		if err := p.Notified(w.id, lines); err != nil {
			p.Logger.Error("could not keep the notices about this party's table", "job", w.id.String(), "error", err)
		}
	}
}

// handJudged stores this party's predictions of held-out rows, if it has the labels of these rows.
func (p *Party) handJudged(w *work, judged func() (*method.Judged, error)) error {
	own, err := judged()
	if err != nil || own == nil {
		return err
	}
	own.Result.TellSplit(w.job)
	own.Result.About = learner.AboutRun(w.job, p.Version, time.Now())
	return p.Judged(w.id, own)
}

// destroy erases the party's sessions of a job and the rows that were read for it, but not what the job
// retained here. A session that cannot be erased stays in the party's lists, to be erased when the
// closing comes again.
func (p *Party) destroy(w *work, outcome string) error {
	if err := p.remember(w); err != nil {
		return err
	}
	var left []*running
	var errs error
	for _, r := range w.sessions {
		p.router.Forget(r.ID())
		if err := r.Destroy(outcome); err != nil {
			errs, left = errors.Join(errs, err), append(left, r)
			continue
		}
		delete(p.sessions, r.ID())
		if err := p.forgetSession(r); err != nil {
			p.Logger.Error("the ledger of releases could not note that a session is over", "session", r.ID().String(), "error", err)
		}
	}
	if w.sessions = left; errs != nil {
		return errs
	}
	if err := p.eraseSnapshot(w.id); err != nil { // erased last, because a remaining session would read the table again
		return err
	}
	delete(p.jobs, w.id)
	if err := p.abandon(w); err != nil {
		p.Logger.Error("could not remove a job's undisclosed releases from the ledger of releases", "job", w.id.String(), "error", err)
	}
	p.record(w, slog.LevelInfo, "destroyed a job's secrets", overview.Event{Kind: overview.Closed}, "outcome", outcome)
	e := p.jobEvent(audit.Closed, w)
	e.Outcome = shortened(outcome)
	p.audit(e)
	return nil
}

// remember records in the vault that a job has ended. It must run before the destruction, after
// which nothing else records the job's end.
func (p *Party) remember(w *work) error {
	if w.inquiry != nil {
		return nil
	}
	return p.Vault.Claim(w.fileID(), w.overClaim())
}

func (p *Party) closed(ctx context.Context, c *control.Closing) error {
	if err := p.tellHead(ctx); err != nil {
		return err
	}
	return p.tell(ctx, control.Topic(c.Job), control.KindClosed, c.Encode())
}
