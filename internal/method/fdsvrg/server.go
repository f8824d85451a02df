package fdsvrg

import (
	"context"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
)

// server is the coordinator, which is told how well the parties have learnt.
type server struct {
	columns.Server
	judge
	finding finding
}

// Server implements [method.Federated].
func (Method) Server(c method.Case) (method.Server, error) {
	return &server{Server: columns.Server{Case: c}, judge: judge{c.Job}}, nil
}

// Machine implements [method.Member].
func (s *server) Machine(step string, setup method.Setup) (*method.Run, error) {
	if step == "learn" {
		return sums.Receiver(setup, s.takeFinding)
	}
	return s.Server.Machine(step, setup, s)
}

func (s *server) takeFinding(body []byte) error {
	v, err := decodeFinding(s.Job.Task(), body)
	if err != nil {
		return protocol.Blame(s.Parties[0], protocol.KindMalformed, err)
	}
	s.finding = v
	return nil
}

// Compute implements [method.Server]: there is nothing to compute.
func (*server) Compute(_ context.Context, step string, _ method.Reporter) error {
	return fmt.Errorf("fdsvrg: no step %s", step)
}

// Outcome implements [method.Decider]: decisions stay with the label holder.
func (*server) Outcome() *method.Outcome { return &method.Outcome{} }

// WriteModel implements [method.Model]. It writes all that the coordinator has of the model.
func (s *server) WriteModel(out io.Writer) error {
	var w wire.Writer
	w.String("mercer/v1/fd-svrg")
	w.Fixed(s.Declared.Digest[:])
	w.Fixed(s.finding.model[:])
	_, err := out.Write(w.Bytes())
	return err
}

// Private implements [method.Model]: no row is in the model.
func (*server) Private() bool { return false }

// Result implements [method.Server].
func (s *server) Result() (*method.Result, error) {
	rows, err := s.Declared.Rows()
	if err != nil {
		return nil, err
	}
	train, test, err := columns.Sizes(s.Job, rows)
	if err != nil {
		return nil, err
	}
	return &method.Result{
		Job: s.Job.Name, Metrics: s.finding.metrics, Grid: []learner.Cell{}, HeldOut: test, Training: train,
		Warnings: s.finding.warnings(), Leakage: leakage(s.Case, rows),
	}, nil
}
