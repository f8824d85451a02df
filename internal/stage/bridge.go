package stage

import (
	"github.com/mercer-fl/mercer/internal/method/fdskl"
	"github.com/mercer-fl/mercer/internal/method/gram"

	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
)

// Bridge runs a method by the frame whose code is still in this package.
type Bridge struct{ method.Method }

// Of finds the method of a job, if a federation can run it.
func Of(j *job.Job) (method.Federated, error) {
	if m, ok := bridged(j.Protocol.Kind).(method.Federated); ok {
		return m, nil
	}
	return nil, fmt.Errorf("stage: protocol %q cannot be run by a federation", j.Protocol.Name())
}

// Methods lists the methods of a reader as the frame knows them.
func Methods(r *job.Reader) []method.Method {
	var list []method.Method
	for _, k := range r.Protocols {
		list = append(list, bridged(k))
	}
	return list
}

// bridged is the method itself, if its code is not here.
func bridged(k job.Kind) job.Kind {
	switch k.(type) {
	case gram.Method, fdskl.Method:
		return Bridge{k}
	}
	return k
}

func castOf(c method.Case) Cast {
	return Cast{ID: c.ID, Coordinator: c.Coordinator, Parties: c.Parties}
}

// Plan implements [method.Federated].
func (b Bridge) Plan(c method.Case) ([]method.Step, error) {
	stages, err := Plan(c.Job, castOf(c))
	return steps(stages), err
}

// steps are the stages as the frame knows them.
func steps(stages []Stage) []method.Step {
	list := make([]method.Step, len(stages))
	for i, st := range stages {
		list[i] = method.Step{Name: st.Name, Session: st.Session.framed()}
	}
	return list
}

// framed is a session as the frame knows it.
func (s *Session) framed() *method.Session {
	if s == nil {
		return nil
	}
	f := &method.Session{
		Protocol: s.Protocol, Version: s.Version, Params: s.Params, Members: s.Members, Purpose: s.Purpose, Parent: s.Parent, Salt: s.Salt,
		Discloses: s.Discloses, Seeks: s.Seeks, Absent: s.Absent, Claims: s.Claims, Patient: s.Patient,
	}
	if s.Follow != nil {
		f.Follow = func(k method.Known, announced []byte) (*method.Session, error) {
			known, _ := k.(Known)
			next, err := s.Follow(known, announced)
			return next.framed(), err
		}
	}
	return f
}

// sessionOf finds the session of a step.
func sessionOf(stages []Stage, name string) (*Session, error) {
	for _, st := range stages {
		if st.Name == name && st.Session != nil {
			return st.Session, nil
		}
	}
	return nil, fmt.Errorf("stage: no session %s", name)
}

// Party implements [method.Federated].
func (b Bridge) Party(c method.Case, self string, t Table) (method.Party, error) {
	stages, err := Plan(c.Job, castOf(c))
	if err != nil {
		return nil, err
	}
	p, err := NewParty(c.Job, self, t)
	if err != nil {
		return nil, err
	}
	p.MaxFeatures, p.Floors = c.Limits.Directions, c.Limits.Floors
	return &bridgedParty{p, stages}, p.CheckFloors()
}

type bridgedParty struct {
	*Party
	stages []Stage
}

func (p *bridgedParty) Known() method.Known { return p.Party.Known() }

func (p *bridgedParty) Machine(step string, setup Setup) (*Run, error) {
	st, err := sessionOf(p.stages, step)
	if err != nil {
		return nil, err
	}
	s, err := st.After(p.Party.Known(), setup.Announced)
	if err != nil {
		return nil, err
	}
	return s.Party(p.Party, setup)
}

func (p *bridgedParty) Disclose(step string) (method.Release, bool) {
	st, err := sessionOf(p.stages, step)
	if err != nil || st.Release == nil {
		return method.Release{}, false
	}
	r := st.Release(p.Party)
	return r, r.Kind != ""
}

func (p *bridgedParty) Keep(c method.Closing) (method.Keepsake, error) {
	o, err := p.newPortion(c.Classes)
	if err != nil {
		return method.Keepsake{}, err
	}
	return method.Keepsake{Method: p.Job.Protocol.Name(), Version: 1, Body: o.Encode()}, nil
}

// Server implements [method.Federated].
func (b Bridge) Server(c method.Case) (method.Server, error) {
	stages, err := Plan(c.Job, castOf(c))
	if err != nil {
		return nil, err
	}
	return &bridgedServer{Server: NewServer(c.Job, castOf(c)), stages: stages}, nil
}

type bridgedServer struct {
	*Server
	stages []Stage
	facts  method.Facts
}

func (s *bridgedServer) Known() method.Known { return s.Server.Known() }

func (s *bridgedServer) Announce(step string) ([]byte, error) {
	st, err := sessionOf(s.stages, step)
	if err != nil {
		return nil, err
	}
	return st.Announce(s.Server)
}

func (s *bridgedServer) Machine(step string, setup Setup) (*Run, error) {
	st, err := sessionOf(s.stages, step)
	if err != nil {
		return nil, err
	}
	next, err := st.After(s.Server.Known(), setup.Announced)
	if err != nil {
		return nil, err
	}
	return next.Server(s.Server, setup)
}

func (s *bridgedServer) Ended(step string, e method.End) {
	s.facts = s.facts.Join(e.Facts)
	s.Server.Ended(step, e)
}

func (s *bridgedServer) Compute(ctx context.Context, step string, progress Reporter) error {
	for _, st := range s.stages {
		if st.Name == step && st.Compute != nil {
			return st.Compute(s.Server, ctx, progress)
		}
	}
	return fmt.Errorf("stage: nothing to compute in step %s", step)
}

func (s *bridgedServer) Result() (*Result, error) { return s.Server.Result(s.facts), nil }

func (s *bridgedServer) WriteModel(w io.Writer) error { return s.EncodeModel(w) }

func (s *bridgedServer) Keep(method.Closing) (method.Keepsake, error) {
	var body []byte
	var err error
	if vertical(s.Job) {
		body, err = s.keptBasis()
	}
	return method.Keepsake{Method: s.Job.Protocol.Name(), Version: 1, Body: body}, err
}

// Undownloadable implements [method.Undownloadable].
func (b Bridge) Undownloadable(j *job.Job) string {
	if !vertical(j) {
		return ""
	}
	return fmt.Sprintf("lies in parts with its parties (protocol %s), and no file predicts without them", b.Name())
}

func ofKind[M method.Method](b Bridge) bool {
	_, ok := b.Method.(M)
	return ok
}

// Left implements [method.Answering].
func (b Bridge) Left(body []byte) bool {
	return IsPortion(body) && ofKind[gram.Method](b)
}

// OpenParty implements [method.Answering].
func (b Bridge) OpenParty(k method.Keepsake, read *job.Reader) (method.Erasable, error) {
	o, err := DecodePortion(read, k.Body)
	return &columnsInquirer{portion: o}, err
}

// OpenServer implements [method.Answering].
func (b Bridge) OpenServer(c method.Case, k method.Keepsake, _ func() ([]byte, error)) (method.Erasable, error) {
	srv, basis, err := OpenAnswers(c.Job, castOf(c), k.Body)
	return &columnsInquirer{server: srv, basis: basis}, err
}

// columnsInquirer answers by sessions of all who hold columns.
type columnsInquirer struct {
	portion *Portion // at a party
	server  *Server  // at the coordinator
	basis   Basis
}

func (o *columnsInquirer) Erase() {
	if o.portion != nil {
		o.portion.Erase()
	}
}

func (o *columnsInquirer) Among(q method.Question) []string {
	if o.portion != nil {
		return o.portion.Job.Parties()
	}
	return q.Job.Parties()
}

func (o *columnsInquirer) Fits(q method.Question, set *dataset.Set) error {
	return o.portion.Fits(q.Asker, set)
}

func (o *columnsInquirer) stages(q method.Question) ([]Stage, error) {
	if o.portion == nil {
		return PlanInquiry(q.Job, castOf(q.Case), q.Asker, o.basis)
	}
	// Both as this program writes them: an earlier one may have trained the model.
	if !bytes.Equal(o.portion.Job.Encode(), q.Job.Encode()) {
		return nil, fault.Forbidden(errors.New("the question comes with another job file than its model"))
	}
	stages, err := PlanInquiry(q.Job, castOf(q.Case), q.Asker, o.portion.Basis)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return stages, nil
}

func (o *columnsInquirer) Plan(q method.Question) ([]method.Step, error) {
	stages, err := o.stages(q)
	return steps(stages), err
}

func (o *columnsInquirer) Party(q method.Question, self string, t Table) (method.Party, error) {
	stages, err := o.stages(q)
	if err != nil {
		return nil, err
	}
	p, err := o.portion.Answerer(self, t.Set)
	return &bridgedParty{p, stages}, err
}

func (o *columnsInquirer) Server(q method.Question) (method.Server, error) {
	stages, err := o.stages(q)
	return &bridgedServer{Server: o.server, stages: stages}, err
}
