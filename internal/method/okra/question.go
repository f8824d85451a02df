package okra

import (
	"context"
	"errors"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// inquirer answers questions by one session of the asker with the coordinator.
type inquirer struct {
	encoder *Kept   // at the asker
	answers answers // at the coordinator
	model   *model.Private
}

// Erase implements [method.Erasable].
func (o *inquirer) Erase() {
	if o.encoder != nil {
		clear(o.encoder.Epoch[:])
	}
}

// Among implements [method.Inquirer].
func (o *inquirer) Among(q method.Question) []string { return []string{q.Asker} }

// Fits implements [method.Inquirer].
func (o *inquirer) Fits(_ method.Question, set *dataset.Set) error {
	_, err := o.encoder.rows(set)
	return err
}

// Plan implements [method.Inquirer].
func (o *inquirer) Plan(q method.Question) ([]method.Step, error) {
	params, parent, err := o.trained(q)
	return []method.Step{{Name: "predict", Session: &method.Session{
		Protocol: okra.Name, Version: okra.Version, Params: params.Encode(), Members: q.Everybody(),
		Purpose: "predict", Parent: parent, Salt: q.Tag[:],
	}}}, err
}

// trained returns the parameters and the session of the upload.
func (o *inquirer) trained(q method.Question) (okra.Params, protocol.SessionID, error) {
	if o.encoder != nil {
		return o.encoder.Params, o.encoder.Parent, nil
	}
	params, err := paramsOf(q.Job)
	return params, o.answers.Parent, err
}

// Party implements [method.Inquirer]. The asker has a copy of the seed, which outlives
// the keepsake: a question can be withdrawn while its machine is built.
func (o *inquirer) Party(_ method.Question, _ string, t method.Table) (method.Party, error) {
	rows, err := o.encoder.rows(t.Set)
	return &asker{*o.encoder, rows, &method.Prediction{Reading: o.encoder.Reading}}, err
}

// rows returns the rows of a table, encoded like the rows of the training.
func (e *Kept) rows(set *dataset.Set) (linalg.Rows, error) {
	set, err := method.LikeTraining(set, e.Width, e.Columns)
	if err != nil {
		return nil, err
	}
	rows := dataset.RowsOf(set.X)
	if len(e.Scaling.Offset) > 0 {
		rows = e.Scaling.Rows(rows)
	}
	return rows, nil
}

// asker is the party that asks; its rows stay with it.
type asker struct {
	Kept
	about  linalg.Rows
	answer *method.Prediction
}

// Known implements [method.Member].
func (*asker) Known() method.Known { return nil }

// Disclose implements [method.Party]: the rows that a party asks about are its own to show.
func (*asker) Disclose(string) (method.Release, bool) { return method.Release{}, false }

// Machine implements [method.Member].
func (a *asker) Machine(_ string, setup method.Setup) (*method.Run, error) {
	m, err := okra.NewPredictParty(setup.Setup, a.Params, a.Epoch, a.about)
	return method.RunOf(m, err, func() error { return a.answer.Take(m.Decisions()) })
}

// Answer implements [method.Asker].
func (a *asker) Answer() (*method.Prediction, error) { return a.answer, nil }

// Server implements [method.Inquirer].
func (o *inquirer) Server(q method.Question) (method.Server, error) {
	params, _, err := o.trained(q)
	return &answerer{o, params}, err
}

// answerer is the coordinator, which decides by the model.
type answerer struct {
	*inquirer
	params okra.Params
}

// Known implements [method.Member].
func (*answerer) Known() method.Known { return nil }

// Machine implements [method.Member].
func (a *answerer) Machine(_ string, setup method.Setup) (*method.Run, error) {
	m, err := okra.NewPredictServer(setup.Setup, a.params, a.answers.Tag, a.model.Width(), a.model.Decisions, okra.Limits{})
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: m, Finish: method.Nothing}, nil
}

// Compute implements [method.Server]: there is nothing to compute.
func (*answerer) Compute(_ context.Context, step string, _ method.Reporter) error {
	return unknown(step)
}

// Result implements [method.Server]: a question has none.
func (*answerer) Result() (*method.Result, error) {
	return nil, errors.New("okra: a question has no result")
}
