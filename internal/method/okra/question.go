package okra

import (
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

// none are the public values of a question.
type none = struct{}

// answering is one session of the asker with the coordinator.
func answering(o *inquirer) method.AnswersOf[inquirer, asker, answerer, none] {
	return method.AnswersOf[inquirer, asker, answerer, none]{
		Kept: o, Erase: (*inquirer).erase, Among: (*inquirer).among, Fits: (*inquirer).fits, Steps: (*inquirer).steps,
		NewParty: (*inquirer).party, NewServer: (*inquirer).server, Public: func(*asker) none { return none{} }, PublicServer: func(*answerer) none { return none{} }, Answer: (*asker).result,
	}
}

func (o *inquirer) erase() {
	if o.encoder != nil {
		clear(o.encoder.Epoch[:])
	}
}

func (o *inquirer) among(q method.Question) []string { return []string{q.Asker} }

func (o *inquirer) fits(_ method.Question, set *dataset.Set) error {
	_, err := o.encoder.rows(set)
	return err
}

func (o *inquirer) steps(q method.Question) ([]method.StepOf[asker, answerer, struct{}], error) {
	params, parent, err := o.trained(q)
	return []method.StepOf[asker, answerer, struct{}]{{Name: "predict", Session: &method.Session{
		Protocol: okra.Name, Version: okra.Version, Params: params.Encode(), Members: q.Everybody(),
		Purpose: "predict", Parent: parent, Salt: q.Tag[:],
	}, Party: (*asker).ask, Server: (*answerer).decide, Releases: method.LetsOut[asker](method.ReleaseQuestions)}}, err
}

// trained returns the parameters and the session of the upload.
func (o *inquirer) trained(q method.Question) (okra.Params, protocol.SessionID, error) {
	if o.encoder != nil {
		return o.encoder.Params, o.encoder.Parent, nil
	}
	params, err := paramsOf(q.Job)
	return params, o.answers.Parent, err
}

// party is the asker, which has a copy of the seed, which outlives
// the keepsake: a question can be withdrawn while its machine is built.
func (o *inquirer) party(_ method.Question, _ string, t method.Table) (*asker, error) {
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

func (a *asker) ask(setup method.Setup) (*method.Run, error) {
	m, err := okra.NewPredictParty(setup.Setup, a.Params, a.Epoch, a.about)
	return method.RunOf(m, err, func() error { return a.answer.Take(m.Decisions()) })
}

func (a *asker) result() (*method.Prediction, error) { return a.answer, nil }

func (o *inquirer) server(q method.Question) (*answerer, error) {
	params, _, err := o.trained(q)
	return &answerer{o, params}, err
}

// answerer is the coordinator, which decides by the model.
type answerer struct {
	*inquirer
	params okra.Params
}

func (a *answerer) decide(setup method.Setup) (*method.Run, error) {
	m, err := okra.NewPredictServer(setup.Setup, a.params, a.answers.Tag, a.model.Width(), a.model.Decisions, okra.Limits{})
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: m, Finish: method.Nothing}, nil
}
