package party

import (
	"context"
	"errors"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/protocol"
)

// abort ends a session that failed elsewhere.
func (p *Party) abort(m protocol.Message) error {
	r, known := p.sessions[m.Session]
	if !known || !r.active {
		return nil
	}
	f, err := session.DecodeRefusal(m.Body)
	if err != nil {
		return err
	}
	r.cancel(errAborted(p.boss, f.Reason))
	return nil
}

// close ends a job: running sessions are stopped, then everything is
// destroyed. A closing for an unknown job is answered too: the answer to an
// earlier one may have been lost.
func (p *Party) close(ctx context.Context, m protocol.Message) error {
	c, err := session.DecodeClosing(m.Body)
	if err != nil {
		return err
	}
	w, known := p.jobs[c.Job]
	if !known {
		return p.closed(ctx, c)
	}
	w.closing = c
	for _, r := range w.sessions {
		if r.active {
			r.cancel(errAborted(p.boss, c.Outcome))
		}
	}
	return p.destroy(ctx, w)
}

// destroy erases what the party holds for a closed job, once no driver runs.
func (p *Party) destroy(ctx context.Context, w *work) error {
	if w.active() {
		return nil // conclude comes back here
	}
	if w.closing.Done && w.job.Prediction == job.Open {
		if err := p.keep(w); err != nil {
			return err
		}
	}
	var errs error
	for _, r := range w.sessions {
		p.exchange.Forget(r.ID())
		delete(p.sessions, r.ID())
		errs = errors.Join(errs, r.Destroy(w.closing.Outcome))
	}
	delete(p.jobs, w.id)
	if errs != nil {
		return errs
	}
	p.Logger.Info("destroyed a job's secrets", "job", w.id.String(), "outcome", w.closing.Outcome)
	return p.closed(ctx, w.closing)
}

func (p *Party) closed(ctx context.Context, c *session.Closing) error {
	return p.tell(ctx, c.Job.Topic(), session.KindClosed, c.Encode())
}
