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

// inquired returns the work for a question that any party has asked about a model. Without its part
// of the model this party cannot contribute.
func (p *Party) inquired(prop *control.Proposal) (*work, error) {
	q := prop.Inquiry
	if q.ID() != prop.Job {
		return nil, refuse("the proposal's id does not match the question that it carries")
	}
	secret, err := p.Retained.Get(q.Job)
	if errors.Is(err, vault.ErrNoState) {
		return nil, fault.Public(fault.BadInputf("%s has no part of the model of job %v, and the model cannot predict without it; submit the job again", p.Name, q.Job))
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

// helping prepares this party to answer a question with its part of the model.
func (p *Party) helping(prop *control.Proposal, opened method.Erasable) (*work, error) {
	q := prop.Inquiry
	o, ok := opened.(method.Inquirer)
	if !ok {
		return nil, refuse("the model of job %v does not answer questions in sessions", q.Job)
	}
	// An earlier version may have written the job file, so Parse converts it to the form of this
	// program.
	asked, err := p.Reader.Parse("proposal", prop.Spec)
	if err != nil {
		return nil, parseError(err)
	}
	w := &work{id: prop.Job, job: asked, inquiry: q, opened: o}
	w.about = method.Question{Instance: p.instance(w), Asker: q.Asker, Tag: q.Tag}
	w.about.Parties = o.Among(w.about)
	if len(w.about.Parties) < 2 {
		return nil, refuse("the model of job %v is not split by columns", q.Job)
	}
	if _, err := p.among(w.about.Parties); err != nil {
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

// asking returns this party's own question that an inquiry describes, or nil.
func (p *Party) asking(inquiry *control.Inquiry) *question {
	for _, q := range p.pending {
		if q.inquiry != nil && *q.inquiry == *inquiry {
			return q
		}
	}
	return nil
}

// stillAsked refuses a session for a question of this party that no caller waits for. Otherwise the
// coordinator could ask in this party's name.
func (p *Party) stillAsked(w *work) error {
	if w.inquiry != nil && w.inquiry.Asker == p.Name && !slices.Contains(p.pending, w.question) {
		return refuse("this party has not asked for this prediction, or has stopped waiting for it")
	}
	return nil
}

// prepareAnswer gets the rows of a question. A question of this party comes with its rows. For a
// question of another party they are in the table that it names, or else in the job's table.
func (p *Party) prepareAnswer(w *work) error {
	if w.question != nil {
		return p.prepareFor(w, w.question.set)
	}
	data := w.job.Data
	data.Test, data.Folds, data.Weight = job.Test{}, 0, "" // a question trains nothing, has no held-out rows, and uses the table's present rows
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

// prepared converts the typed columns of a table into numbers.
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

// prepareFor builds the party's side of a question about the rows of a data set.
func (p *Party) prepareFor(w *work, set *dataset.Set) error {
	state, err := w.opened.Party(w.about, p.Name, method.Table{Set: set})
	if err == nil {
		w.side = state
	}
	return errUnusable(err)
}

// seedName returns the name of this work in the labels of seeds. A job and a question that several parties
// help to answer get different names. A question that the coordinator alone answers has the name of the job.
func (w *work) seedName() string {
	if w.inquiry != nil {
		return w.job.Name + "/" + w.id.String()
	}
	return w.job.Name
}
