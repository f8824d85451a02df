package okra

import (
	"context"
	"errors"
	"io"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// server is the coordinator, which learns from the Gram matrix.
type server struct {
	method.Case
	learner.Work
	upload *okra.Server       // the Gram matrix, labels, encoded rows
	parent protocol.SessionID // of the upload
	facts  method.Facts
	model  *model.Private
}

// Server implements [method.Federated].
func (Method) Server(c method.Case) (method.Server, error) { return &server{Case: c}, nil }

// Known implements [method.Member]: the job says all.
func (*server) Known() method.Known { return nil }

// Machine implements [method.Member]: it collects encoded rows into a Gram matrix.
func (s *server) Machine(step string, setup method.Setup) (*method.Run, error) {
	if step != "protocol" {
		return nil, unknown(step)
	}
	params, err := paramsOf(s.Job)
	if err != nil {
		return nil, err
	}
	m, err := okra.NewServer(setup.Setup, params, okra.Limits{})
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: bounded(m), Finish: func() error {
		s.upload, s.parent = m, setup.Session.ID()
		s.Problem = learner.Problem{Gram: m.Gram(), Labels: m.Labels(), Test: m.Test()}
		return nil
	}}, nil
}

// bounded has a machine that holds rows up to a limit say that more are the job's
// fault, and that another protocol has no matrix of all rows.
func bounded(m protocol.Machine) protocol.Machine {
	return method.Translated{Machine: m, Meaning: func(err error) error {
		var limit *okra.LimitError
		if !errors.As(err, &limit) {
			return err
		}
		return fault.BadInputf("%w, or use protocol moments, which makes no such matrix", err)
	}}
}

// Ended implements [method.Observer]: the facts are for the statement of leakage.
func (s *server) Ended(_ string, e method.End) { s.facts = s.facts.Join(e.Facts) }

// Compute implements [method.Server]. The model holds encoded rows and therefore never
// leaves the coordinator.
func (s *server) Compute(ctx context.Context, step string, progress method.Reporter) error {
	if err := s.Do(ctx, s.Job, step, progress.Counts); err != nil || step != "learn" {
		return err
	}
	m, err := model.New(s.Choice.Job.Kernel.Spec(), nil, s.upload.Rows(s.Fitted.Support), s.Fitted.Head)
	if err != nil {
		return err
	}
	s.model, err = model.NewPrivate(m)
	return err
}

// Outcome implements [method.Decider].
func (s *server) Outcome() *method.Outcome { return method.NewOutcome(s.Fitted) }

// WriteModel implements [method.Model].
func (s *server) WriteModel(w io.Writer) error { return model.EncodePrivate(w, s.model) }

// Private implements [method.Model].
func (s *server) Private() bool { return true }

// Result implements [method.Server].
func (s *server) Result() (*method.Result, error) {
	r := method.NewResult(s.Job, &s.Work)
	r.Leakage = s.leakage()
	return r, nil
}

// Keep implements [method.Keeper]: it keeps what questions about the model must fit.
func (s *server) Keep(method.Closing) (method.Keepsake, error) {
	if s.model == nil {
		return keepsake(s.Job, nil), nil
	}
	return keepsake(s.Job, answers{s.parent, s.upload.Tag()}.encode()), nil
}
