package secvm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Server is a crowd's server: the training, and the last window's sum.
type Server struct {
	Summed
	training *Training
	devices  int
	first    SumFacts // of the first window
	sums     []sums.Figures
	last     *secvm.Sum
	of       sums.Summation // that gave the last sum
	added    int            // devices in it
}

// Server implements [method.Federated].
func (Crowd) Server(c method.Case) (method.Server, error) {
	s, err := summedOf(c)
	if err != nil {
		return nil, err
	}
	training, err := NewTraining(c.Job, [2]string(KeysOf(c.Job).Classes))
	return &Server{Summed: s, training: training, devices: len(c.Parties)}, err
}

// Known implements [method.Member].
func (*Server) Known() method.Known { return nil }

// Announce implements [method.Announcer]: each window begins with the weights.
func (s *Server) Announce(string) ([]byte, error) {
	_, w := s.training.Published()
	return secvm.EncodeWeights(w), nil
}

// Machine implements [method.Member].
func (s *Server) Machine(step string, setup method.Setup) (*method.Run, error) {
	params, err := secagg.DecodeParams(setup.Session.Params)
	if err != nil {
		return nil, err
	}
	m, err := secagg.NewServer(setup.Setup, params, setup.Keys(setup.Session.With(protocol.RoleParty)), secagg.Limits{})
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: m, Stayed: m.Stayed, Finish: func() error {
		s.of, s.added = sums.Summation{Session: setup.Session, Params: params}, len(m.Survivors())
		if err := s.close(m.Sums()); err != nil {
			return fmt.Errorf("secvm: %s: %w", step, err)
		}
		return nil
	}}, nil
}

// close takes a window's sum, and the step that follows from it. Devices add to an iteration
// once, so that a window with too few of them cannot be held again.
func (s *Server) close(blocks [][]int64) error {
	sum, err := secvm.NewSum(s.Params, blocks, s.added)
	if err != nil {
		return err
	}
	if iteration, _ := s.training.Published(); iteration == 0 {
		s.first = SumFactsOf(sum)
	}
	s.last = sum
	over, err := s.training.Close(sum)
	if err == nil && !over {
		err = fmt.Errorf("%d of %d devices in the sum train, and a step takes %d; the job is over, since no device adds to an iteration twice; submit it under another name, with a lower cohort or more devices",
			sum.Count(), s.added, s.Params.Spec().Cohort)
	}
	return err
}

// Ended implements [method.Observer].
func (s *Server) Ended(_ string, e method.End) { s.sums = append(s.sums, s.of.Ended(s.added, e)) }

// Compute implements [method.Server]: all steps are sums.
func (*Server) Compute(_ context.Context, step string, _ method.Reporter) error {
	return fmt.Errorf("secvm: nothing to compute in step %q", step)
}

// serverState is a server's state between two windows.
type serverState struct {
	Training []byte         `json:"training"`
	First    SumFacts       `json:"first"`
	Sums     []sums.Figures `json:"sums"`
}

// Snapshot returns the state between two windows, from which another process goes on.
func (s *Server) Snapshot() ([]byte, error) {
	return json.Marshal(serverState{s.training.Snapshot(), s.first, s.sums})
}

// Restore goes on from a snapshot.
func (s *Server) Restore(snapshot []byte) error {
	var state serverState
	if err := json.Unmarshal(snapshot, &state); err != nil {
		return fmt.Errorf("secvm: snapshot of a server: %w", err)
	}
	s.first, s.sums = state.First, state.Sums
	return s.training.Restore(state.Training)
}

// Result implements [method.Server]. Only devices know the records, so the accuracy is all
// that there is to measure.
func (s *Server) Result() (*method.Result, error) {
	tests, spec, k := s.last.Outcomes(), s.Params.Spec(), KeysOf(s.Job)
	f := &Figures{
		Source: s.Job.Data.Source, Devices: s.devices, Trainers: s.last.Count(), Testers: int(tests[0].Total + tests[1].Total), Windows: len(s.sums),
		Bins: spec.Bins, Features: k.Space, Packages: spec.Packages, PackageBytes: secvm.PackageSize, Sums: s.sums,
		Classes: TestsOf(s.training.classes, tests), Averages: []AveragePoint{},
	}
	f.Majority = MajorityOf(f.Classes)
	r := &method.Result{
		Job: s.Job.Name, Grid: []learner.Cell{}, Training: f.Trainers, HeldOut: f.Testers,
		Details: &Details{f}, Leakage: s.Leakage(s.first, s.devices),
	}
	if f.Testers > 0 {
		r.Metrics = learner.Metrics{"accuracy": AccuracyOf(tests)}
	}
	return r, nil
}

// WriteModel implements [method.Model].
func (s *Server) WriteModel(w io.Writer) error {
	_, err := w.Write(s.training.Model().Encode())
	return err
}

// Private implements [method.Model]: every device is told the model.
func (*Server) Private() bool { return false }
