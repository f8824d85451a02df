package stage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/method/sums"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/secagg"
)

// momentsServer is what the coordinator has of a job of moments: sums, and what
// follows from them.
type momentsServer struct {
	counted    headcount
	session    protocol.SessionID // of the sums; the directions follow from it
	sums       *moments.Sums
	scores     []float64 // of the job's values, by the sums; nil where there is one
	taught     *taught
	body       []byte // what is taught, as it is told
	heldOut    int64
	figures    []int64 // by which the solution is judged
	membership float64 // mean of the parties' figures
	measured   int     // parties that had one
	verdict    *verdict
}

// Known is what the stages so far have made public.
func (s *Server) Known() Known {
	k := Known{Rows: s.moments.counted.total(), Counted: s.moments.counted.digest, Declared: s.vertical.declared, Crowd: s.crowd.known()}
	if s.moments.body != nil {
		k.Solution = sha256.Sum256(s.moments.body)
	}
	return k
}

func (s *Server) sums(setup Setup) (*Run, error) {
	return sums.Server(setup, secagg.Limits{}, func(sums [][]int64) error {
		if n := s.moments.counted.total(); sums[2][0] != n {
			return fmt.Errorf("stage: sums over %d training rows, of which the parties have declared %d: one of them does not add what it declares", sums[2][0], n)
		}
		var err error
		s.moments.session = setup.Session.ID()
		s.moments.sums, err = moments.FromEntries(s.features(), lessonOf(s.Job).width(), sums[0], sums[1], int(sums[2][0]))
		if err == nil && len(sums) > 3 {
			s.moments.sums.Total, s.moments.sums.Power = float64(sums[3][0]), float64(sums[3][1])
		}
		return err
	})
}

// features is the number of random features.
func (s *Server) features() int { return s.Known().features(s.Job) }

// solve chooses one of the job's values by the sums, and makes the solution for it.
func (s *Server) solve(ctx context.Context, _ Reporter) error {
	l, values := lessonOf(s.Job), regularisers(s.Job)
	for _, v := range values {
		if len(values) == 1 {
			break // nothing to choose
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		score, err := l.judgement().of(s.moments.sums, v)
		if err != nil {
			return fault.BadInput(err)
		}
		s.moments.scores = append(s.moments.scores, score)
	}
	choice := l.judgement().best(s.moments.scores)
	t, err := l.solve(s.moments.sums, values[choice])
	if err != nil {
		return fault.BadInput(err)
	}
	t.choice = choice
	s.moments.taught, s.moments.body = t, t.encode()
	return nil
}

func (s *Server) errors(setup Setup) (*Run, error) {
	return sums.Server(setup, secagg.Limits{}, func(sums [][]int64) error {
		s.moments.heldOut, s.moments.figures = sums[0][0], sums[1]
		if s.moments.measured = int(sums[2][1]); s.moments.measured > 0 {
			s.moments.membership = float64(sums[2][0]) / membershipOne / float64(s.moments.measured)
		}
		return nil
	})
}

// judgeSolution reads what the held-out rows say of the solution.
func (s *Server) judgeSolution(context.Context, Reporter) error {
	if s.moments.heldOut == 0 {
		return fault.BadInput(errors.New("stage: no party holds a row out to measure errors on; give a larger test: {fraction: ...}"))
	}
	v, err := lessonOf(s.Job).judge(s.moments.sums, s.moments.taught, s.moments.heldOut, s.moments.figures)
	if err != nil {
		return fault.BadInput(err)
	}
	s.moments.verdict, s.metrics = v, v.metrics
	return nil
}

// momentsCells is what the solution was chosen from, by the training rows.
func (s *Server) momentsCells() []Cell {
	cells := []Cell{}
	for k, score := range s.moments.scores {
		l := s.Job.Learners()[k]
		cells = append(cells, Cell{
			Kernel: s.Job.Kernel.Spec(), Alpha: l.Alpha, Noise: l.Noise, Score: lessonOf(s.Job).judgement().name,
			Folds: []float64{}, Mean: score, Rows: s.moments.sums.Rows, Best: k == s.moments.taught.choice,
		})
	}
	return cells
}

func (s *Server) momentsResult() *Result {
	return &Result{
		Job: s.Job.Name, Metrics: s.metrics, Grid: s.momentsCells(), HeldOut: int(s.moments.heldOut), Training: s.moments.sums.Rows,
		Eigenvalues: s.moments.verdict.values, Leakage: s.momentsLeakage(), Sums: s.sumsResult(),
	}
}

// sumsResult says how far the sums are from single rows.
func (s *Server) sumsResult() *SumsResult {
	r := &SumsResult{Features: s.features(), RowsPerFeature: float64(s.moments.sums.Rows) / float64(s.features())}
	if s.moments.measured > 0 {
		r.Membership = &s.moments.membership
	}
	return r
}
