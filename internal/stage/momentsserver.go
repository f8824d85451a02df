package stage

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"

	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/internal/session"
	"github.com/mercer-fl/mercer/internal/wire"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// momentsServer is what the coordinator has of a job of moments: sums, and what
// follows from them.
type momentsServer struct {
	session    protocol.SessionID // of the sums; the directions follow from it
	sums       *moments.Sums
	path       []moments.Solution
	body       []byte // the path as it is told
	errors     *moments.Errors
	membership float64 // mean of the parties' figures
	measured   int     // parties that had one
	best       int
}

// Known is what the stages so far have made public.
func (s *Server) Known() Known {
	if s == nil {
		return Known{}
	}
	k := Known{Declared: s.vertical.declared}
	if s.moments.body != nil {
		k.Solution = sha256.Sum256(s.moments.body)
	}
	return k
}

// adder is the machine that adds up vectors. A sum that lacks a party is none.
func (s *Server) adder(setup Setup, params secagg.Params, room secagg.Limits, take func(sums [][]int64) error) (*Run, error) {
	m, err := secagg.NewServer(setup.Setup, params, setup.keys(setup.Session.With(protocol.RoleParty)), room)
	if err != nil {
		return nil, err
	}
	return &Run{Machine: m, Finish: func() error {
		if n := len(m.Survivors()); n != len(s.Cast.Parties) {
			return fmt.Errorf("stage: sums over %d of %d parties", n, len(s.Cast.Parties))
		}
		return take(m.Sums())
	}}, nil
}

func (s *Server) sums(setup Setup, params secagg.Params) (*Run, error) {
	return s.adder(setup, params, secagg.Limits{}, func(sums [][]int64) error {
		var err error
		s.moments.session = setup.Session.ID()
		s.moments.sums, err = moments.FromEntries(s.Job.Protocol.Directions, len(s.Job.Protocol.Classes), sums[0], sums[1], int(sums[2][0]))
		return err
	})
}

// solve makes a regression for each alpha.
func (s *Server) solve(Reporter) error {
	path, err := moments.Solve(s.moments.sums, alphas(s.Job))
	if err != nil {
		return session.BadInput(err)
	}
	s.moments.path, s.moments.body = path, encodeSolutions(path)
	return nil
}

func (s *Server) errors(setup Setup, params secagg.Params) (*Run, error) {
	return s.adder(setup, params, secagg.Limits{}, func(sums [][]int64) error {
		s.moments.errors = &moments.Errors{Rows: sums[0][0], Correct: sums[1], Squared: sums[2]}
		if s.moments.measured = int(sums[3][1]); s.moments.measured > 0 {
			s.moments.membership = float64(sums[3][0]) / membershipOne / float64(s.moments.measured)
		}
		return nil
	})
}

// chooseAlpha takes the solution with the least errors.
func (s *Server) chooseAlpha(Reporter) error {
	e := s.moments.errors
	if e.Rows == 0 {
		return session.BadInput(errors.New("stage: no party holds a row out to choose by; give a larger test: {fraction: ...}"))
	}
	s.moments.best = e.Best()
	s.metrics = evaluate.Metrics{"accuracy": s.accuracy(s.moments.best)}
	return nil
}

// accuracy of a solution on the held-out rows of all.
func (s *Server) accuracy(k int) float64 {
	return float64(s.moments.errors.Correct[k]) / float64(s.moments.errors.Rows)
}

// momentsCells is what the solution was chosen from.
func (s *Server) momentsCells() []Cell {
	cells := []Cell{}
	for k, one := range s.moments.path {
		accuracy := s.accuracy(k)
		cells = append(cells, Cell{
			Kernel: s.Job.Kernel.Spec(), Alpha: one.Alpha, Score: "accuracy", Folds: []float64{}, Mean: accuracy,
			Correct: int(s.moments.errors.Correct[k]), Rows: int(s.moments.errors.Rows), Best: k == s.moments.best,
		})
	}
	return cells
}

func (s *Server) momentsResult() *Result {
	return &Result{
		Job: s.Job.Name, Metrics: s.metrics, Grid: s.momentsCells(), HeldOut: int(s.moments.errors.Rows), Training: s.moments.sums.Rows,
		Leakage: s.momentsLeakage(),
	}
}

// encodeMoments writes what predictions need beside the scaling, which only the
// parties know: kernel, directions, classes, weights.
func (s *Server) encodeMoments(out io.Writer) error {
	var w wire.Writer
	w.String("mercer/v1/moments")
	w.String(string(s.Job.Kernel.Name))
	w.Float64(s.Job.Kernel.Gamma)
	w.Fixed(s.moments.session[:])
	writeStrings(&w, s.Job.Protocol.Classes)
	best := s.moments.path[s.moments.best]
	w.Uint32(uint32(best.Weights.Cols))
	w.Float64(best.Alpha)
	w.Float64s(best.Weights.Data)
	_, err := out.Write(w.Bytes())
	return err
}
