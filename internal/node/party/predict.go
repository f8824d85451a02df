package party

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/audit"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/vault"
	"github.com/mercer-fl/mercer/protocol"
)

// Items stores one sealed item for each job.
type Items interface {
	Put(id job.ID, secret []byte) error
	Get(id job.ID) ([]byte, error)
}

// Retained is a sealed store for what ended jobs keep at this party: the state for predictions (the
// encoder's secret, a model, or a part of a model), or the state that later jobs need, such as a fit.
type Retained interface {
	Put(id job.ID, secret []byte) error
	Get(id job.ID) ([]byte, error)
	// Erase destroys everything that the job retained here, and returns the erased items. It
	// returns no error if there are none.
	Erase(id job.ID) ([]vault.Item, error)
	// EraseItems destroys some items of a job, and returns those that were there.
	EraseItems(id job.ID, items ...vault.Item) ([]vault.Item, error)
	// Jobs lists the jobs with state in this store.
	Jobs() ([]vault.Retained, error)
}

// question is a request for predictions of new rows.
type question struct {
	job job.ID
	set *dataset.Set
	tag [16]byte

	opened method.Inquirer
	sent   bool       // true while the coordinator has the question
	from   time.Time  // earliest time at which the party sends the question
	reply  chan reply // buffered, so that Run need not wait for the caller

	// The fields plan, party, id and running serve a question that one session answers.
	plan    []method.Step
	party   *method.PartySide
	id      protocol.SessionID // id of the only session that may answer the question
	running *running           // the session; nil until the coordinator proposes it

	// The fields source, inquiry and work serve a question that several sessions answer. Then other
	// parties hold columns of the rows.
	source  string // table from which the other parties take their columns of the rows
	inquiry *control.Inquiry
	work    *work // nil until the coordinator proposes the first session
}

// maxQuestions bounds the questions that wait for an answer.
const maxQuestions = 16

var errStopped = errors.New("party: the party has stopped")

type reply struct {
	prediction *method.Prediction
	err        error
}

// Predict returns a model's predictions for new rows. The rows stay at this party. If the
// coordinator has the model, only the rows' encodings are sent. If other parties hold columns of
// the rows, the rows are aligned first. The other parties find these columns in their table that
// source names; "" means the job's table. The job must have kept predictions open.
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

// predictHere predicts with a model that the job retained here. It returns nil if the job retained
// no whole model here.
func (p *Party) predictHere(id job.ID, set *dataset.Set) (*method.Prediction, error) {
	retained, err := p.Retained.Get(id)
	if errors.Is(err, vault.ErrNoState) {
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

// open decodes the retained state of a job.
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

// Preparation returns the fitted preparation of columns that a job retained here. It returns nil if
// the job's tables had no schema, and an error if the job retained nothing.
func (p *Party) Preparation(id job.ID) ([]byte, error) {
	retained, err := p.Retained.Get(id)
	if errors.Is(err, vault.ErrNoState) {
		return nil, p.nothingRetained(id)
	}
	if err != nil {
		return nil, err
	}
	defer clear(retained)
	return preparationOf(retained)
}

// preparationOf returns a copy of the fitted preparation of columns in a job's retained state.
func preparationOf(retained []byte) ([]byte, error) {
	k, err := method.DecodeRetained(retained)
	return bytes.Clone(k.Prepared), err
}

// stopAll stops the unfinished sessions of a job or a question.
func (p *Party) stopAll(ctx context.Context, w *work, why error) error {
	var errs error
	for _, r := range w.sessions {
		if r.report == nil {
			errs = errors.Join(errs, p.stop(ctx, r, why))
		}
	}
	return errs
}

// Forget erases everything that a job retained here, such as the state for predictions, the order of
// the rows and the recommendations. It returns the names of the erased items.
func (p *Party) Forget(id job.ID) ([]string, error) {
	gone, err := p.Retained.Erase(id)
	if err != nil {
		return nil, err
	}
	return p.noteErased(id, gone), nil
}

// noteErased records what was erased of a job, and returns the names.
func (p *Party) noteErased(id job.ID, gone []vault.Item) (names []string) {
	for _, item := range gone {
		names = append(names, string(item))
	}
	if len(names) > 0 {
		p.Logger.Info("erased what a job retained", "job", id.String(), "erased", names)
		p.audit(audit.Event{Kind: audit.Erased, Job: id.String(), Outcome: strings.Join(names, ", ")})
	}
	return names
}

// ask adds a question to the pending questions and prepares its rows. Later askNext sends it.
func (p *Party) ask(q *question) {
	p.pending = append(p.pending, q)
	if err := p.prepareQuestion(q); err != nil {
		p.reply(q, nil, err)
	}
}

// askAgain is the time that a question waits after the coordinator has put it off.
const askAgain = time.Second

func (p *Party) prepareQuestion(q *question) error {
	if len(p.pending) > maxQuestions {
		return fmt.Errorf("party: %d questions wait for an answer, the most allowed; ask again later", maxQuestions)
	}
	secret, err := p.Retained.Get(q.job)
	if errors.Is(err, vault.ErrNoState) {
		return p.nothingRetained(q.job)
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
		return fault.BadInputf("the retained state of job %v cannot answer questions in sessions", q.job)
	}
	about := method.Question{Instance: method.Instance{ID: q.job, Coordinator: p.boss}, Asker: p.Name, Tag: q.tag}
	about.Parties = asked.Among(about)
	q.opened = asked
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

// nothingRetained returns the error about a job that has nothing here to predict with. The party does not know the
// cause for a job that has not failed, so the error names three possible causes.
func (p *Party) nothingRetained(id job.ID) error {
	why, err := p.failureOf(id)
	switch {
	case err != nil:
		return err
	case why != "":
		return fault.BadInputf("job %v ended without a model (%s); submit it again", id, why)
	}
	return fault.BadInputf("job %v retained no state here to encode new rows: it was submitted without \"prediction: open\", or forgotten, or the home was restored from a backup without it", id)
}

func (p *Party) failureOf(id job.ID) (why string, err error) {
	if p.Failure == nil {
		return "", nil
	}
	return p.Failure(id.String())
}

// prepareAlone prepares a question that the coordinator answers alone.
func (p *Party) prepareAlone(q *question, asked method.Inquirer, about method.Question) error {
	if q.source != "" {
		return fault.BadInputf("no other party holds columns of these rows; leave out the source %q", q.source)
	}
	var err error
	if q.plan, err = asked.Plan(about); err == nil {
		q.party, err = asked.Party(about, p.Name, method.Table{Set: q.set})
	}
	if err != nil {
		return fault.BadInput(err)
	}
	among, err := p.among(about.Parties)
	if err != nil {
		return err
	}
	s, err := protocol.NewSession(q.plan[0].Session.Descriptor(q.job, control.StagePredict, among.Hash(), 0))
	if err != nil {
		return err
	}
	q.id = s.ID()
	return nil
}

// answer returns the prediction that the asking party computed from its question's sessions.
func answer(asked *method.PartySide) (*method.Prediction, error) {
	if asked.Answer == nil {
		return nil, errors.New("party: the question's sessions have ended without an answer")
	}
	return asked.Answer()
}

// asked returns the pending question that a session answers, or nil. So a coordinator can propose
// only a requested prediction, and only once.
func (p *Party) asked(id protocol.SessionID) *question {
	for _, q := range p.pending {
		if q.running == nil && q.inquiry == nil && q.id == id {
			return q
		}
	}
	return nil
}

// reply sends the answer or the error to the question's caller, and removes the question.
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
