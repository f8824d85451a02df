package party

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/internal/stage"
	"github.com/mercer-fl/mercer/protocol"
)

// Keepsake is what survives a job that keeps predictions open: the encoder's
// secret, sealed by whoever implements this.
type Keepsake interface {
	Put(id session.JobID, secret []byte) error
	Get(id session.JobID) ([]byte, error)
	// Erase destroys it; a job that left none is no error.
	Erase(id session.JobID) error
}

// question is a wish to have new rows predicted.
type question struct {
	ctx     context.Context
	job     session.JobID
	set     *dataset.Set
	tag     [16]byte
	session *stage.Session
	// prediction is filled in when the session ends well.
	prediction *stage.Prediction
	reply      chan reply // holds one
}

type reply struct {
	prediction *stage.Prediction
	err        error
}

// Predict asks the coordinator for the classes of new rows, which stay here:
// only their encodings leave. The job must have kept predictions open.
func (p *Party) Predict(ctx context.Context, id session.JobID, set *dataset.Set) (*stage.Prediction, error) {
	q := &question{ctx: ctx, job: id, set: set, reply: make(chan reply, 1)}
	select {
	case p.questions <- q:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case r := <-q.reply:
		return r.prediction, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Forget erases what a job left here for predictions.
func (p *Party) Forget(id session.JobID) error { return p.Keepsake.Erase(id) }

// keep puts the encoder's secret away for later predictions.
func (p *Party) keep(w *work) error {
	e, err := w.state.Encoder(w.closing.Classes)
	if err != nil {
		return err
	}
	return p.Keepsake.Put(w.id, e.Encode())
}

// ask prepares a question and sends it to the coordinator, who answers with a
// proposal or a refusal.
func (p *Party) ask(ctx context.Context, q *question) {
	err := p.prepareQuestion(q)
	if err == nil {
		p.pending = append(p.pending, q)
		body := (&session.Question{Job: q.job, Rows: uint32(q.set.X.Rows()), Tag: q.tag}).Encode()
		err = p.tell(ctx, q.job.Topic(), session.KindQuestion, body)
	}
	if err != nil {
		p.reply(q, nil, err)
	}
}

func (p *Party) prepareQuestion(q *question) error {
	secret, err := p.Keepsake.Get(q.job)
	if err != nil {
		return session.BadInput(fmt.Errorf("job %v left nothing here to encode new rows with; submit it with prediction: open", q.job))
	}
	encoder, err := stage.DecodeEncoder(secret)
	if err != nil {
		return err
	}
	if _, err := rand.Read(q.tag[:]); err != nil {
		return err
	}
	cast := stage.Cast{Coordinator: p.boss, Parties: []string{p.Name}}
	q.session, q.prediction, err = encoder.Ask(cast, q.tag, q.set)
	return err
}

// asked finds the question that a proposal answers. A coordinator cannot
// propose a prediction that nobody asked for.
func (p *Party) asked(prop *session.Proposal) (*question, error) {
	for _, q := range p.pending {
		want := q.session.Descriptor(q.job, session.StagePredict, p.Roster.Hash(), prop.Descriptor.Attempt)
		if prop.Job == q.job && bytes.Equal(want.Encode(), prop.Descriptor.Encode()) {
			return q, nil
		}
	}
	return nil, refuse("this party has not asked for this prediction")
}

// refused handles the coordinator's no to a job's questions.
func (p *Party) refused(m protocol.Message) error {
	f, err := session.DecodeRefusal(m.Body)
	if err != nil {
		return err
	}
	why := &session.Error{Code: f.Code, Err: errors.New(f.Reason)}
	for _, q := range slices.Clone(p.pending) {
		if q.job.Topic() == m.Session {
			p.reply(q, nil, why)
		}
	}
	return nil
}

// answered ends the session of a question: there is nothing to keep.
func (p *Party) answered(ctx context.Context, f finished) error {
	q := f.r.question
	if f.err == nil {
		f.err = f.r.run.Finish()
	}
	outcome := "done"
	if f.err != nil {
		outcome = f.err.Error()
	}
	p.reply(q, q.prediction, f.err)
	report := p.report(f).Encode()
	p.exchange.Forget(f.r.ID())
	delete(p.sessions, f.r.ID())
	if err := f.r.Destroy(outcome); err != nil {
		return err
	}
	return p.tell(ctx, f.r.ID(), session.KindReport, report)
}

// reply ends a question.
func (p *Party) reply(q *question, a *stage.Prediction, err error) {
	p.pending = slices.DeleteFunc(p.pending, func(other *question) bool { return other == q })
	if err != nil {
		a = nil
	}
	q.reply <- reply{a, err}
}
