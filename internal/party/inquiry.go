package party

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/internal/stage"
	"github.com/mercer-fl/mercer/internal/vault"
)

// prepareInquiry prepares a question about rows whose columns other parties hold
// too.
func (p *Party) prepareInquiry(q *question, secret []byte) error {
	o, err := stage.DecodePortion(p.Reader, secret)
	if err != nil {
		return err
	}
	defer o.Erase()
	if err := o.Fits(p.Name, q.set); err != nil {
		return fault.BadInput(err)
	}
	q.inquiry = &session.Inquiry{Asker: p.Name, Question: session.Question{
		Job: q.job, Rows: uint32(q.set.X.Rows()), Tag: q.tag, Source: q.source,
	}}
	return nil
}

// inquired returns what is to be done for a question, which this party or another
// has asked. Without its part of the model it has nothing to contribute.
func (p *Party) inquired(prop *session.Proposal) (*work, error) {
	q := prop.Inquiry
	if q.ID() != prop.Job {
		return nil, refuse("the proposal is about another question than it names")
	}
	secret, err := p.Keepsake.Get(q.Job)
	if errors.Is(err, vault.ErrNoKeepsake) {
		return nil, fault.BadInput(fmt.Errorf("%s has forgotten its part of the model of job %v, or never kept one, and the model is useless without it; submit the job again", p.Name, q.Job))
	}
	if err != nil {
		return nil, &fault.Error{Code: fault.CodeFailed, Err: err, Public: "it cannot read its part of the model; its own log says why"}
	}
	defer clear(secret)
	if !stage.IsPortion(secret) {
		return nil, refuse("job %v has no model by columns", q.Job)
	}
	o, err := stage.DecodePortion(p.Reader, secret)
	if err != nil {
		return nil, err
	}
	// Both as this program writes them: an earlier one may have trained the model.
	asked, err := p.Reader.Parse("proposal", prop.Spec)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	if !bytes.Equal(o.Job.Encode(), asked.Encode()) {
		return nil, refuse("the question comes with another job file than its model")
	}
	w := &work{id: prop.Job, job: o.Job, cast: stage.Cast{ID: prop.Job, Coordinator: p.boss, Parties: o.Job.Parties()}, inquiry: q, portion: o}
	if err := p.among(w.cast.Parties); err != nil {
		return nil, err
	}
	if w.plan, err = stage.PlanInquiry(o.Job, w.cast, q.Asker, o.Basis); err != nil {
		return nil, fault.BadInput(err)
	}
	if q.Asker == p.Name {
		w.question = p.asking(q)
	}
	w.cpu, _ = p.Usage()
	return w, p.stillAsked(w)
}

// asking finds the own question of an inquiry, or nil.
func (p *Party) asking(inquiry *session.Inquiry) *question {
	for _, q := range p.pending {
		if q.inquiry != nil && *q.inquiry == *inquiry {
			return q
		}
	}
	return nil
}

// stillAsked refuses sessions for an own question that nobody waits for: the
// coordinator cannot ask in this party's name.
func (p *Party) stillAsked(w *work) error {
	if w.inquiry != nil && w.inquiry.Asker == p.Name && !slices.Contains(p.pending, w.question) {
		return refuse("this party has not asked for this prediction, or no longer waits for it")
	}
	return nil
}

// prepareAnswer takes the rows that the party itself asks about, or reads the
// table in which the asker says this party has them.
func (p *Party) prepareAnswer(w *work) error {
	if w.question != nil {
		var err error
		w.state, err = w.portion.Answerer(p.Name, w.question.set)
		return errUnusable(err)
	}
	data := w.job.Data
	data.Test = job.Test{}
	if w.inquiry.Source != "" {
		data.Source = w.inquiry.Source
	}
	if !w.job.Labels(p.Name) {
		data.Label = job.NoLabel
	}
	table, err := p.Load(data)
	if err == nil {
		w.state, err = w.portion.Answerer(p.Name, table.Set)
	}
	return errUnusable(err)
}

// closeInquiry ends a question: everything but what the job left is destroyed.
func (p *Party) closeInquiry(ctx context.Context, w *work, c *session.Closing) error {
	if q := w.question; q != nil {
		if c.Done {
			a, err := w.state.Answer()
			p.reply(q, a, err)
		} else {
			p.reply(q, nil, &fault.Error{Code: fault.CodeFailed, Err: errors.New(c.Outcome)})
		}
	}
	w.portion.Erase()
	if err := p.destroy(w, c.Outcome); err != nil {
		return notNow(fmt.Errorf("party: %w", err))
	}
	return p.closed(ctx, c)
}

// stopAll ends the sessions of a question that have not ended.
func (p *Party) stopAll(ctx context.Context, w *work, why error) error {
	var errs error
	for _, r := range w.sessions {
		if r.report == nil {
			errs = errors.Join(errs, p.stop(ctx, r, why))
		}
	}
	return errs
}

// name tells seeds of a job from those of questions about its model.
func (w *work) name() string {
	if w.inquiry != nil {
		return w.job.Name + "/" + w.id.String()
	}
	return w.job.Name
}
