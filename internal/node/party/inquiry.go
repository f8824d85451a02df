package party

import (
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/vault"
)

// inquired returns the work for a question that this party or another one asked. Without its part of
// the model this party cannot contribute.
func (p *Party) inquired(prop *control.Proposal) (*work, error) {
	q := prop.Inquiry
	if q.ID() != prop.Job {
		return nil, refuse("the proposal's id is not the id of its question")
	}
	secret, err := p.Retained.Get(q.Job)
	if errors.Is(err, vault.ErrNoState) {
		return nil, fault.Public(fault.BadInputf("%s has forgotten its part of the model of job %v, or never kept one, and the model is useless without it; submit the job again", p.Name, q.Job))
	}
	if err != nil {
		return nil, fault.Kept.Of(err)
	}
	defer clear(secret)
	opened, err := p.open(secret)
	if err != nil {
		return nil, err
	}
	w, err := p.helping(prop, opened)
	if err != nil {
		opened.Erase()
		return nil, err
	}
	w.preparation, err = preparationOf(secret)
	return w, err
}

// helping returns the work for a question that this party helps to answer with its retained part of the
// model.
func (p *Party) helping(prop *control.Proposal, opened method.Erasable) (*work, error) {
	q := prop.Inquiry
	o, ok := opened.(method.Inquirer)
	if !ok {
		return nil, refuse("job %v has no model that answers queries in sessions", q.Job)
	}
	// The job file in the form of this program: an earlier one may have trained the model.
	asked, err := p.Reader.Parse("proposal", prop.Spec)
	if err != nil {
		return nil, fault.Public(fault.BadInput(err)) // it quotes what the proposal brought
	}
	w := &work{id: prop.Job, job: asked, inquiry: q, opened: o}
	w.about = method.Question{Instance: p.instance(w), Asker: q.Asker, Tag: q.Tag}
	w.about.Parties = o.Among(w.about)
	if len(w.about.Parties) < 2 {
		return nil, refuse("job %v has no model that is split by columns", q.Job)
	}
	if err := p.among(w.about.Parties); err != nil {
		return nil, err
	}
	if w.plan, err = o.Plan(w.about); err != nil {
		return nil, err
	}
	if q.Asker == p.Name {
		w.question = p.asking(q)
	}
	w.cpu, _ = p.Usage()
	return w, p.stillAsked(w)
}

// asking returns this party's own question of an inquiry, or nil.
func (p *Party) asking(inquiry *control.Inquiry) *question {
	for _, q := range p.pending {
		if q.inquiry != nil && *q.inquiry == *inquiry {
			return q
		}
	}
	return nil
}

// stillAsked refuses sessions for an own question that has no caller any more: the coordinator must not
// ask in this party's name.
func (p *Party) stillAsked(w *work) error {
	if w.inquiry != nil && w.inquiry.Asker == p.Name && !slices.Contains(p.pending, w.question) {
		return refuse("this party has not asked for this prediction, or no longer waits for it")
	}
	return nil
}

// prepareAnswer takes the rows of the party's own question, or reads the table that the asker names.
func (p *Party) prepareAnswer(w *work) error {
	if w.question != nil {
		return p.prepareFor(w, w.question.set)
	}
	data := w.job.Data
	data.Test, data.Folds = job.Test{}, 0 // a question holds nothing out, and is about the rows of today
	if w.inquiry.Source != "" {
		data.Source = w.inquiry.Source
	}
	if !w.job.Labels(p.Name) {
		data.Label = job.NoLabel
	}
	table, err := p.Load(w.id, data)
	if err == nil {
		err = fault.Magnitude.Of(dataset.CheckMagnitude(table.Set, table.HeldOut))
	}
	if err != nil {
		return errUnusable(err)
	}
	set, err := w.prepared(table.Set)
	if err != nil {
		return errUnusable(err)
	}
	return p.prepareFor(w, set)
}

// prepared turns a table that was read by the job's schema into numbers.
func (w *work) prepared(set *dataset.Set) (*dataset.Set, error) {
	f, typed := set.X.(*prepare.Frame)
	if !typed {
		return set, nil
	}
	made, err := prepare.Decode(w.preparation)
	if err != nil {
		return nil, err
	}
	return made.Prepare(set, f)
}

// prepareFor prepares the party's side of a question about the rows of a table.
func (p *Party) prepareFor(w *work, set *dataset.Set) error {
	state, err := w.opened.Party(w.about, p.Name, method.Table{Set: set})
	if err == nil {
		w.side = state
	}
	return errUnusable(err)
}

// name returns the name that separates the seeds of a job from the seeds of questions about its model.
func (w *work) name() string {
	if w.inquiry != nil {
		return w.job.Name + "/" + w.id.String()
	}
	return w.job.Name
}
