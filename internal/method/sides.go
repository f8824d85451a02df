package method

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
)

// Protocol is a binding whose types are erased. It is a job.Kind, and a Federated while there are
// bindings of the old kind.
type Protocol struct {
	name     string
	traits   job.Traits
	keys     func() section.Values
	plan     func(Case) ([]Step, error)
	party    func(Case, string, Table) (*Holder, error)
	server   func(Case) (*Hub, error)
	minimums func(Floors, *job.Job) error
	present  func(*job.Job, *Result) (*Presentation, error)
	noFile   func(*job.Job) string
	answers  *opener
}

type opener struct {
	party  func(Keepsake, *job.Reader) (Erasable, error)
	server func(Case, Keepsake, func() ([]byte, error)) (Erasable, error)
	left   func([]byte) bool
}

// Name implements [job.Kind].
func (m *Protocol) Name() string { return m.name }

// New implements [job.Kind].
func (m *Protocol) New() section.Values { return m.keys() }

// Traits tells readers of job files what the protocol is.
func (m *Protocol) Traits() job.Traits { return m.traits }

// Plan implements [Federated].
func (m *Protocol) Plan(c Case) ([]Step, error) { return m.plan(c) }

// Party implements [Federated].
func (m *Protocol) Party(c Case, self string, t Table) (Party, error) {
	h, err := m.party(c, self, t)
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Server implements [Federated].
func (m *Protocol) Server(c Case) (Server, error) {
	h, err := m.server(c)
	if err != nil {
		return nil, err
	}
	return serverOf{h}, nil
}

// CheckFloors implements [Floored].
func (m *Protocol) CheckFloors(f Floors, j *job.Job) error { return m.minimums(f, j) }

// Present implements [Presenter].
func (m *Protocol) Present(j *job.Job, r *Result) (*Presentation, error) {
	if m.present == nil {
		return nil, nil
	}
	return m.present(j, r)
}

// Undownloadable implements [Undownloadable].
func (m *Protocol) Undownloadable(j *job.Job) string {
	if m.noFile == nil {
		return ""
	}
	return m.noFile(j)
}

// Holder is a party as a daemon runs it: functions over a state that only they know.
type Holder struct {
	State    any // for tests
	steps    []Step
	known    func() Known
	machine  func(step int, s Setup) (*Run, error)
	releases func(step int) ([]Release, error)

	Facts func() Facts
	// Nil where the party has not:
	OwnFigures  func() error
	Keep        func(Closing) (Keepsake, error)
	Later       *Later
	Preparation func() *prepare.Preparation
	Remarks     func() []string
	Order       func() []string
	Judged      func() (*Judged, error)
	Recommended func() []Recommendation
	Answer      func() (*Prediction, error)
}

// Later leaves and takes up what a later job continues.
type Later struct {
	Earlier   job.ID
	Continues bool
	Lasts     func() bool
	Write     func(io.Writer) error
	Resume    func([]byte) error
}

// Known implements [Member].
func (h *Holder) Known() Known { return h.known() }

// Machine implements [Member] by name; the daemon uses Build.
func (h *Holder) Machine(step string, s Setup) (*Run, error) {
	for i, one := range h.steps {
		if one.Name == step && one.Session != nil {
			return h.machine(i, s)
		}
	}
	return nil, fmt.Errorf("method: no session %s", step)
}

// Disclose implements [Party] by name; the daemon uses Releases.
func (h *Holder) Disclose(step string) (Release, bool) {
	for i, one := range h.steps {
		if one.Name == step && one.Session != nil {
			if list, err := h.releases(i); err == nil && len(list) > 0 {
				return list[0], true
			}
		}
	}
	return Release{}, false
}

// Build builds the machine of the i-th step of the plan.
func (h *Holder) Build(i int, s Setup) (*Run, error) { return h.machine(i, s) }

// Releases states what the party lets out in the i-th step of the plan.
func (h *Holder) Releases(i int) ([]Release, error) { return h.releases(i) }

// All states the releases of a whole job, by step, before any session has run. A step whose members
// follow from public values lists all who may be one.
func (h *Holder) All(self string) ([][]Release, error) {
	all := make([][]Release, len(h.steps))
	for i, s := range h.steps {
		if s.Session == nil || !s.Session.Has(self) {
			continue
		}
		var err error
		if all[i], err = h.releases(i); err != nil {
			return nil, fmt.Errorf("method: releases of step %s: %w", s.Name, err)
		}
	}
	return all, nil
}

// Hub is the coordinator as its daemon runs it.
type Hub struct {
	State    any // for tests
	steps    []Step
	known    func() Known
	machine  func(step int, s Setup) (*Run, error)
	compute  func(step int, ctx context.Context, r Reporter) error
	announce func(step int) ([]byte, error)
	ended    func(step int, e End)

	Result func() (*Result, error)
	// Nil where the coordinator has not:
	Outcome  func() *Outcome
	Model    *ModelWriter
	Keep     func(Closing) (Keepsake, error)
	Later    *Later
	Prepared func() (*learner.Prepared, error)
}

// ModelWriter writes a model file.
type ModelWriter struct {
	Write   func(io.Writer) error
	Private bool
}

// Build builds the machine of the i-th step of the plan.
func (h *Hub) Build(i int, s Setup) (*Run, error) { return h.machine(i, s) }

// Compute runs the i-th step of the plan, which is no session.
func (h *Hub) Compute(ctx context.Context, i int, r Reporter) error { return h.compute(i, ctx, r) }

// Announce returns what the i-th step announces to the parties.
func (h *Hub) Announce(i int) ([]byte, error) { return h.announce(i) }

// Ended tells of the end of the i-th step.
func (h *Hub) Ended(i int, e End) { h.ended(i, e) }

// Known returns the public values.
func (h *Hub) Known() Known { return h.known() }

// serverOf is a Hub where the old interface is asked for.
type serverOf struct{ *Hub }

// Machine implements [Member].
func (h serverOf) Machine(step string, s Setup) (*Run, error) {
	for i, one := range h.steps {
		if one.Name == step && one.Session != nil {
			return h.machine(i, s)
		}
	}
	return nil, fmt.Errorf("method: no session %s", step)
}

// Compute implements [Server].
func (h serverOf) Compute(ctx context.Context, step string, r Reporter) error {
	for i, one := range h.steps {
		if one.Name == step && one.Session == nil {
			return h.compute(i, ctx, r)
		}
	}
	return fmt.Errorf("method: no step %s", step)
}

// Result implements [Server].
func (h serverOf) Result() (*Result, error) { return h.Hub.Result() }

// chained is a side whose job may continue an earlier one, or be continued.
type chained interface {
	Lasts() bool
	WriteRest(io.Writer) error
	Continues() (_ job.ID, _ bool)
	Resume(rest []byte) error
}

func laterOf(of any) *Later {
	l, is := of.(chained)
	if !is {
		return nil
	}
	out := &Later{Lasts: l.Lasts, Write: l.WriteRest, Resume: l.Resume}
	out.Earlier, out.Continues = l.Continues()
	return out
}

// HolderOf returns a party as the daemon runs it. Of the old kind, its abilities are found here and
// nowhere else.
func HolderOf(p Party, plan []Step) *Holder {
	if h, erased := p.(*Holder); erased {
		return h
	}
	if p == nil { // a table that could not be read again after a restart
		return &Holder{known: func() Known { return nil }, Facts: func() Facts { return Facts{} }}
	}
	h := &Holder{State: p, steps: plan, known: p.Known, Facts: func() Facts { return Facts{} }, Later: laterOf(p)}
	h.machine = func(i int, s Setup) (*Run, error) { return p.Machine(plan[i].Name, s) }
	h.releases = func(i int) ([]Release, error) {
		r, some := p.Disclose(plan[i].Name)
		if !some {
			return nil, nil
		}
		return []Release{r}, nil
	}
	if g, is := p.(Grainer); is {
		h.Facts = g.Facts
	}
	if f, is := p.(interface{ OwnFigures() error }); is {
		h.OwnFigures = f.OwnFigures
	}
	if k, is := p.(Keeper); is {
		h.Keep = k.Keep
	}
	if r, is := p.(Preparing); is {
		h.Preparation = r.Preparation
	}
	if r, is := p.(interface{ Remarks() []string }); is {
		h.Remarks = r.Remarks
	}
	if o, is := p.(Ordered); is {
		h.Order = o.Aligned
	}
	if j, is := p.(Judging); is {
		h.Judged = j.Judged
	}
	if r, is := p.(Recommender); is {
		h.Recommended = r.Recommended
	}
	if a, is := p.(Asker); is {
		h.Answer = a.Answer
	}
	return h
}

// HubOf returns a server as the daemon runs it.
func HubOf(s Server, plan []Step) *Hub {
	if h, erased := s.(serverOf); erased {
		return h.Hub
	}
	h := &Hub{State: s, steps: plan, known: s.Known, Result: s.Result, Later: laterOf(s)}
	h.machine = func(i int, in Setup) (*Run, error) { return s.Machine(plan[i].Name, in) }
	h.compute = func(i int, ctx context.Context, r Reporter) error { return s.Compute(ctx, plan[i].Name, r) }
	h.announce = func(int) ([]byte, error) { return nil, nil }
	if a, is := s.(Announcer); is {
		h.announce = func(i int) ([]byte, error) { return a.Announce(plan[i].Name) }
	}
	h.ended = func(int, End) {}
	if o, is := s.(Observer); is {
		h.ended = func(i int, e End) { o.Ended(plan[i].Name, e) }
	}
	if d, is := s.(Decider); is {
		h.Outcome = d.Outcome
	}
	if m, is := s.(Model); is {
		h.Model = &ModelWriter{m.WriteModel, m.Private()}
	}
	if k, is := s.(Keeper); is {
		h.Keep = k.Keep
	}
	if w, is := s.(interface {
		Prepared() (*learner.Prepared, error)
	}); is {
		h.Prepared = w.Prepared
	}
	return h
}

var errNoQuestions = errors.New("method: the protocol answers no questions")

// OpenParty implements [Answering].
func (m *Protocol) OpenParty(k Keepsake, r *job.Reader) (Erasable, error) {
	if m.answers == nil {
		return nil, errNoQuestions
	}
	return m.answers.party(k, r)
}

// OpenServer implements [Answering].
func (m *Protocol) OpenServer(c Case, k Keepsake, model func() ([]byte, error)) (Erasable, error) {
	if m.answers == nil || m.answers.server == nil {
		return nil, errNoQuestions
	}
	return m.answers.server(c, k, model)
}

// Left implements [Answering].
func (m *Protocol) Left(body []byte) bool { return m.answers != nil && m.answers.left(body) }

// inquiring is an [Inquirer] made of typed functions.
type inquiring[L, P, S, K any] struct{ a AnswersOf[L, P, S, K] }

// Opened erases the types of who answers.
func Opened[L, P, S, K any](a AnswersOf[L, P, S, K]) Erasable { return inquiring[L, P, S, K]{a} }

func (o inquiring[L, P, S, K]) Erase()                    { o.a.Erase(o.a.Kept) }
func (o inquiring[L, P, S, K]) Among(q Question) []string { return o.a.Among(o.a.Kept, q) }
func (o inquiring[L, P, S, K]) Fits(q Question, set *dataset.Set) error {
	return o.a.Fits(o.a.Kept, q, set)
}

func (o inquiring[L, P, S, K]) Plan(q Question) ([]Step, error) {
	steps, err := o.a.Steps(o.a.Kept, q)
	if err != nil {
		return nil, err
	}
	return erase(q.Case, steps)
}

func (o inquiring[L, P, S, K]) Party(q Question, self string, t Table) (Party, error) {
	p, err := o.a.NewParty(o.a.Kept, q, self, t)
	if err != nil {
		return nil, err
	}
	steps, err := o.a.Steps(o.a.Kept, q)
	h := asked(o.a).holder(p, q.Case, steps)
	h.Answer = with2(p, o.a.Answer)
	return h, err
}

func (o inquiring[L, P, S, K]) Server(q Question) (Server, error) {
	s, err := o.a.NewServer(o.a.Kept, q)
	if err != nil {
		return nil, err
	}
	steps, err := o.a.Steps(o.a.Kept, q)
	return serverOf{asked(o.a).hub(s, q.Case, steps)}, err
}

// asked is the binding of a question, without the parts that only jobs have.
func asked[L, P, S, K any](a AnswersOf[L, P, S, K]) Binding[P, S, K] {
	return Binding[P, S, K]{
		Public: a.Public, PublicServer: a.PublicServer, Facts: NoFacts[P],
		Ended:  IgnoresEnds[S],
		Result: func(*S) (*Result, error) { return nil, errors.New("method: a question has no result") },
	}
}

// Equal compares protocols as tests of job files do: functions cannot be compared.
func (m *Protocol) Equal(o *Protocol) bool { return m == o }
