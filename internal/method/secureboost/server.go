package secureboost

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
)

// server is the coordinator, which is told how well the label holder has learnt.
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
	if step != "learn" {
		return s.Server.Machine(step, setup, s)
	}
	return sums.Receiver(setup, func(body []byte) error {
		v, err := decodeFinding(body)
		if err != nil {
			return protocol.Blame(s.Parties[0], protocol.KindMalformed, err)
		}
		s.finding = v
		return nil
	})
}

// Compute implements [method.Server]: there is nothing to compute.
func (*server) Compute(_ context.Context, step string, _ method.Reporter) error {
	return fmt.Errorf("secureboost: no step %s", step)
}

// Outcome implements [method.Decider]: decisions stay with the label holder.
func (*server) Outcome() *method.Outcome { return &method.Outcome{} }

// WriteModel implements [method.Model]. It writes all that the coordinator has of the model:
// what the model was learnt from, and a name for the trees.
func (s *server) WriteModel(out io.Writer) error {
	var w wire.Writer
	w.String("mercer/v1/secureboost")
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
		Job: s.Job.Name, Metrics: s.finding.metrics, Grid: []learner.Cell{}, HeldOut: test, Training: train, Leakage: Leakage(s.Job, rows),
	}, nil
}

// finding holds the label holder's report to the coordinator about its trees.
type finding struct {
	metrics learner.Metrics
	model   [32]byte // SHA-256 of the trees, which stay where they are
}

// findingBytes is the length of every finding: it must not tell which metrics there are
// before it is told.
const findingBytes = 4*9 + 32

// told lists the metrics that a finding may have, in its order.
func told() []string { return []string{"accuracy", "f1_micro", "f1_macro", "auc"} }

func (v finding) encode() []byte {
	var w wire.Writer
	for _, name := range told() {
		value, has := v.metrics[name]
		w.Bool(has)
		w.Float64(value)
	}
	w.Fixed(v.model[:])
	return w.Bytes()
}

func decodeFinding(b []byte) (finding, error) {
	r := wire.NewReader(b)
	v := finding{metrics: learner.Metrics{}}
	for _, name := range told() {
		has, value := r.Bool(), r.Float64()
		switch {
		case r.Err() != nil:
		case has && !(value >= 0 && value <= 1):
			r.Fail(fmt.Errorf("%s is %v", name, value))
		case !has && math.Float64bits(value) != 0:
			r.Fail(fmt.Errorf("%s is %v and not there", name, value))
		case has:
			v.metrics[name] = value
		}
	}
	r.Fixed(v.model[:])
	return v, r.Close("secureboost: finding")
}
