package secvm

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/sums"
	"github.com/mercer-fl/mercer/protocol/secvm"
)

// Server is the state of the server of the devices: the training, and the sum of the last window.
type Server struct {
	Summed
	training *Training
	devices  int
	first    SumFacts // the leakage facts of the first window
	sums     []sums.Figures
	last     *secvm.Sum
	of       sums.Summation // the session that gave the last sum
	added    int            // the number of devices in the last sum
}

func newServer(c method.Instance) (*Server, error) {
	s, err := summedOf(c)
	if err != nil {
		return nil, err
	}
	training, err := NewTraining(c.Job, [2]string(KeysOf(c.Job).Classes))
	return &Server{Summed: s, training: training, devices: len(c.Parties)}, err
}

// announce returns the encoded weights with which the server begins a window.
func (s *Server) announce() ([]byte, error) {
	_, w := s.training.Published()
	return secvm.EncodeWeights(w), nil
}

func (s *Server) add(setup method.Setup) (*method.Run, error) {
	return sums.Collector(setup, func(of sums.Summation, survivors []string, blocks [][]int64) error {
		s.of, s.added = of, len(survivors)
		if err := s.close(blocks); err != nil {
			return fmt.Errorf("secvm: %w", err)
		}
		return nil
	})
}

// close processes a window's sum and makes the training step that follows from it. Devices add to
// an iteration only once, so a window with too few devices cannot be repeated.
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
		err = fmt.Errorf(`only %d of %d devices in the sum train, but a step requires %d; the job has ended; submit it under another name, with a lower "cohort" or more devices`,
			sum.Count(), s.added, s.Params.Spec().Cohort)
	}
	return err
}

func (s *Server) ended(e method.End) { s.sums = append(s.sums, s.of.Ended(s.added, e)) }

// serverState is the encoded form of a server's state between two windows.
type serverState struct {
	Training []byte         `json:"training"`
	First    SumFacts       `json:"first"`
	Sums     []sums.Figures `json:"sums"`
}

// snapshot returns the state between two windows, from which another process can continue.
func (s *Server) snapshot() ([]byte, error) {
	return json.Marshal(serverState{s.training.Snapshot(), s.first, s.sums})
}

// restore restores the state that snapshot has encoded.
func (s *Server) restore(snapshot []byte) error {
	var state serverState
	if err := json.Unmarshal(snapshot, &state); err != nil {
		return fmt.Errorf("secvm: the snapshot of the server cannot be decoded: %w", err)
	}
	s.first, s.sums = state.First, state.Sums
	return s.training.Restore(state.Training)
}

// result returns the server's result. Only devices know the records, so the accuracy is its only
// metric.
func (s *Server) result() (*method.Result, error) {
	tests, spec, k := s.last.Outcomes(), s.Params.Spec(), KeysOf(s.Job)
	f := &Figures{
		Source: s.Job.Data.Source, Devices: s.devices, Trainers: s.last.Count(), Testers: int(tests[0].Total + tests[1].Total), Windows: len(s.sums),
		Bins: spec.Bins, Features: k.Space, Packages: spec.Packages, PackageBytes: secvm.PackageSize, Sums: s.sums,
		Classes: TestsOf(s.training.classes, tests), Averages: []AveragePoint{},
	}
	f.Majority = MajorityOf(f.Classes)
	r := &method.Result{
		Job: s.Job.Name, Grid: []learner.Cell{}, Training: f.Trainers, HeldOut: f.Testers,
		Details: &Details{f}, Leakage: s.Leakage(s.first, s.devices), Exposures: s.Exposures(s.devices),
	}
	if f.Testers > 0 {
		r.Metrics = learner.Metrics{"accuracy": AccuracyOf(tests)}
	}
	return r, nil
}

func (s *Server) writeModel(w io.Writer) error {
	_, err := w.Write(s.training.Model().Encode())
	return err
}
