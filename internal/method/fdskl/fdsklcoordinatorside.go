package fdskl

import (
	"fmt"
	"io"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/fdskl"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// server is the state of the coordinator, which receives the figures of the party with the labels.
type server struct {
	columns.Server
	parent  protocol.SessionID // the id of the session that added up phases
	learned learned
	verdict *verdict // the sums over active workers, if labels are spread; nil before they arrive
}

func newServer(c method.Instance) (*server, error) {
	return &server{Server: columns.Server{Instance: c}}, nil
}

// adder builds the coordinator's machine that adds up the parties' evaluations.
func (s *server) adder(setup method.Setup) (*method.Run, error) {
	return sums.Server(setup, secagg.Limits{}, s.takeSums)
}

func (s *server) takeFinding(body []byte) error {
	v, err := decodeFinding(s.Job.Task(), body)
	if err != nil {
		return protocol.Blame(s.Parties[0], protocol.KindMalformed, err)
	}
	s.learned = v
	return nil
}

// writeModel writes the coordinator's record of the model. It holds the public settings of the
// random features and a digest of the model.
func (s *server) writeModel(out io.Writer) error {
	var w wire.Writer
	w.String("mercer/v1/fdskl")
	w.Fixed(s.Declared.Digest[:])
	w.Uint32(uint32(keysOf(s.Job).Directions))
	w.Uint8(uint8(keysOf(s.Job).Bits))
	w.Fixed(s.learned.model[:])
	_, err := out.Write(w.Bytes())
	return err
}

func (s *server) retainState(method.Closing) (method.RetainedState, error) {
	return columns.RetainedState(s.Job, columns.Basis{Parent: s.parent}.Encode()), nil
}

// sizes returns how many common rows are for training and how many are held out.
func (s *server) sizes() (train, test int, err error) {
	rows, err := s.Declared.Rows()
	if err != nil {
		return 0, 0, err
	}
	return columns.Sizes(s.Job, rows)
}

func (s *server) result() (*method.Result, error) {
	train, test, err := s.sizes()
	if err != nil {
		return nil, err
	}
	r := &method.Result{
		Job: s.Job.Name, Metrics: s.learned.Metrics, Grid: []learner.Cell{}, HeldOut: test, Training: train,
		Warnings: s.learned.Warnings("the training"), Leakage: Leakage(s.Job, train+test, fdskl.Exposure{}), Exposures: Exposures(s.Job, train+test),
	}
	if s.verdict != nil {
		err = s.verdict.addToResult(r)
	}
	return r, err
}

// Learned is the outcome of a training on random features.
type Learned struct {
	Metrics learner.Metrics // the metrics on held-out rows
	// The field Left is the remaining gradient norm after the last pass, as a fraction of the
	// initial norm. It is 0 if the training converged, and in trainings other than cached.
	Left float64
}

// Warnings returns a warning about the figures if the training has not converged. The warning calls
// the training by the text in name.
func (l Learned) Warnings(name string) []string {
	if l.Left == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s has not converged: after %d passes the gradient is still at %.2g of what it was, not at %g; figures may change with more. Raise lambda, or give fewer directions.",
		name, linear.DefaultMaxPasses, l.Left, linear.DefaultTol)}
}

// learned is the report that the party with the labels sends to the coordinator.
type learned struct {
	Learned
	model [32]byte // a digest of the model, see Learnt.hash; its coefficients never leave the active parties
}

// learnedMetrics lists the metrics of a report in their order.
func learnedMetrics(t job.Task) []string {
	if t.Numbers {
		return []string{"rmse", "r2"}
	}
	return []string{"accuracy", "f1_micro", "f1_macro", "auc"}
}

func (v learned) encode(t job.Task) []byte {
	var w wire.Writer
	for _, name := range learnedMetrics(t) {
		value, has := v.Metrics[name]
		w.Bool(has)
		w.Float64(value)
	}
	w.Float64(v.Left)
	w.Fixed(v.model[:])
	return w.Bytes()
}

func decodeFinding(t job.Task, b []byte) (learned, error) {
	r := wire.NewReader(b)
	v := learned{Learned: Learned{Metrics: learner.Metrics{}}}
	for _, name := range learnedMetrics(t) {
		has, value := r.Bool(), r.Float64()
		if r.Err() == nil && value-value != 0 {
			r.Fail(fmt.Errorf("the metric %s is %v; it must be finite", name, value))
		}
		if !has && math.Float64bits(value) != 0 {
			r.Fail(fmt.Errorf("the metric %s has value %v although it is marked as absent", name, value))
		}
		if has {
			v.Metrics[name] = value
		}
	}
	if v.Left = r.Float64(); r.Err() == nil && (!(v.Left >= 0) || math.IsInf(v.Left, 1)) {
		r.Fail(fmt.Errorf("the remaining gradient is %v; it must be finite and at least 0", v.Left))
	}
	r.Fixed(v.model[:])
	return v, r.Close("fdskl: report")
}
