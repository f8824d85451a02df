package party

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// Items keeps one thing of each job, sealed.
type Items interface {
	Put(id job.ID, secret []byte) error
	Get(id job.ID) ([]byte, error)
}

// RetainedState holds what survives a job that keeps predictions open: the encoder's
// secret or a model, sealed.
type Retained interface {
	Put(id job.ID, secret []byte) error
	Get(id job.ID) ([]byte, error)
	// Erase destroys it with everything else that the job left here, and returns what
	// that was; a job that left nothing is no error.
	Erase(id job.ID) ([]vault.Item, error)
	// Jobs lists the jobs that have left something.
	Jobs() ([]vault.Retained, error)
}

// question is a wish to have new rows predicted.
type question struct {
	job job.ID
	set *dataset.Set
	tag [16]byte
	// Where the coordinator answers by itself, in one session.
	opened  method.Inquirer
	plan    []method.Step
	party   *method.PartySide
	id      protocol.SessionID // of the only session that may answer it
	sent    bool               // to the coordinator, who takes one at a time
	from    time.Time          // when it may be sent, if the coordinator has put it off
	running *running           // once it has been proposed; it is run once
	// Where other parties hold columns of the rows, several sessions answer it.
	source  string // what the others call their table of these rows
	inquiry *control.Inquiry
	work    *work      // once the first session has been proposed
	reply   chan reply // holds one
}

// maxQuestions bounds the questions that wait for an answer.
const maxQuestions = 16

var errStopped = errors.New("party: stopped")

type reply struct {
	prediction *method.Prediction
	err        error
}

// Predict returns a model's predictions for new rows, which stay here. If the
// coordinator holds the model, the rows' encodings leave. If other parties hold
// columns of the rows, the rows are aligned first; source is the name by which these
// parties know their table of them, and "" names the job's own table. The job must have
// kept predictions open.
func (p *Party) Predict(ctx context.Context, id job.ID, set *dataset.Set, source string) (*method.Prediction, error) {
	if a, err := p.predictHere(id, set); a != nil || err != nil {
		return a, err
	}
	q := &question{job: id, set: set, source: source, reply: make(chan reply, 1)}
	select {
	case p.questions <- q:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.over:
		return nil, errStopped
	}
	select {
	case r := <-q.reply:
		return r.prediction, r.err
	case <-p.over:
		return nil, errStopped
	case <-ctx.Done():
	}
	select {
	case p.withdrawn <- q:
	case <-p.over:
	}
	return nil, ctx.Err()
}

// predictHere answers from the model that a job left here, or returns nil where
// it left none: an encoder's secret, or nothing, is for the question to find.
func (p *Party) predictHere(id job.ID, set *dataset.Set) (*method.Prediction, error) {
	retained, err := p.Retained.Get(id)
	if errors.Is(err, vault.ErrNoRetained) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer clear(retained)
	opened, err := p.open(retained)
	if err != nil {
		return nil, err
	}
	defer opened.Erase()
	here, ok := opened.(method.Local)
	if !ok {
		return nil, nil
	}
	a, err := here.Predict(set)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return a, nil
}

// open opens what a job left here.
func (p *Party) open(retained []byte) (method.Erasable, error) {
	k, err := method.DecodeRetained(retained)
	if err != nil {
		return nil, err
	}
	m, err := method.Opener(p.Reader.Protocols, k)
	if err != nil {
		return nil, err
	}
	return m.OpenParty(k, p.Reader)
}

// Preparation returns the preparation that a job has left here, nil where its tables had no
// schema or where it left nothing.
func (p *Party) Preparation(id job.ID) ([]byte, error) {
	retained, err := p.Retained.Get(id)
	if errors.Is(err, vault.ErrNoRetained) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer clear(retained)
	return preparationOf(retained)
}

// preparationOf returns a copy of a retained state's preparation.
func preparationOf(retained []byte) ([]byte, error) {
	k, err := method.DecodeRetained(retained)
	return bytes.Clone(k.Prepared), err
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

// Forget erases everything that a job left here, and returns the names of the erased items:
// state for predictions, the order of its rows, its recommendations.
func (p *Party) Forget(id job.ID) ([]string, error) {
	gone, err := p.Retained.Erase(id)
	var names []string
	for _, item := range gone {
		names = append(names, string(item))
	}
	if err == nil && len(names) > 0 {
		p.Logger.Info("forgot what a job left", "job", id.String(), "erased", names)
	}
	return names, err
}

// ask prepares a question; askNext sends it.
func (p *Party) ask(q *question) {
	p.pending = append(p.pending, q)
	if err := p.prepareQuestion(q); err != nil {
		p.reply(q, nil, err)
	}
}

// askAgain is the time that a question waits if the coordinator has put it off.
const askAgain = time.Second

func (p *Party) prepareQuestion(q *question) error {
	if len(p.pending) > maxQuestions {
		return fmt.Errorf("party: %d questions wait for an answer, the most there may be; ask again later", maxQuestions)
	}
	secret, err := p.Retained.Get(q.job)
	if errors.Is(err, vault.ErrNoRetained) {
		return fault.BadInputf("job %v left nothing here to encode new rows with; submit it with prediction: open", q.job)
	}
	if err != nil {
		return err
	}
	defer clear(secret)
	if _, err := rand.Read(q.tag[:]); err != nil {
		return err
	}
	opened, err := p.open(secret)
	if err != nil {
		return err
	}
	asked, ok := opened.(method.Inquirer)
	if !ok {
		opened.Erase()
		return fault.BadInputf("job %v left nothing here that answers in sessions", q.job)
	}
	about := method.Question{Instance: method.Instance{ID: q.job, Coordinator: p.boss}, Asker: p.Name, Tag: q.tag}
	about.Parties = asked.Among(about)
	q.opened = asked // until the question has ended
	if err := asked.Fits(about, q.set); err != nil {
		return fault.BadInput(err)
	}
	if len(about.Parties) > 1 {
		q.inquiry = &control.Inquiry{Asker: p.Name, Question: control.Question{
			Job: q.job, Rows: uint32(q.set.X.Rows()), Tag: q.tag, Source: q.source,
		}}
		return nil
	}
	return p.prepareAlone(q, asked, about)
}

// prepareAlone prepares a question that the coordinator answers by itself.
func (p *Party) prepareAlone(q *question, asked method.Inquirer, about method.Question) error {
	if q.source != "" {
		return fault.BadInputf("nobody else holds columns of these rows; leave out the source %q", q.source)
	}
	var err error
	if q.plan, err = asked.Plan(about); err == nil {
		q.party, err = asked.Party(about, p.Name, method.Table{Set: q.set})
	}
	if err != nil {
		return fault.BadInput(err)
	}
	s, err := protocol.NewSession(q.plan[0].Session.Descriptor(q.job, control.StagePredict, p.Roster.Hash(), 0))
	if err != nil {
		return err
	}
	q.id = s.ID()
	return nil
}

// answer returns the prediction that an asking party has learnt.
func answer(asked *method.PartySide) (*method.Prediction, error) {
	if asked.Answer == nil {
		return nil, errors.New("party: the question has no answer")
	}
	return asked.Answer()
}

// asked finds the question that a session answers, or nil. A coordinator
// cannot propose a prediction that nobody asked for, nor one of them twice.
func (p *Party) asked(id protocol.SessionID) *question {
	for _, q := range p.pending {
		if q.running == nil && q.inquiry == nil && q.id == id {
			return q
		}
	}
	return nil
}

// reply ends a question, unless it has ended.
func (p *Party) reply(q *question, a *method.Prediction, err error) {
	i := slices.Index(p.pending, q)
	if i < 0 {
		return
	}
	p.pending = slices.Delete(p.pending, i, i+1)
	if q.opened != nil {
		q.opened.Erase()
	}
	if err != nil {
		a = nil
	}
	q.reply <- reply{a, err}
}
