package escaped

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol/escaped"
)

// server is the coordinator, which learns from the Gram matrix.
type server struct {
	method.Case
	rows.Witness
	learner.Work
	facts method.Facts
	words map[string]learner.Word // of the parties, about figures over their own rows
	owner []int                   // the rows of each party
}

func newServer(c method.Case) (*server, error) {
	return &server{Case: c, Witness: rows.WitnessOf(c)}, nil
}

// adder adds products up to a Gram matrix.
func (s *server) adder(setup method.Setup) (*method.Run, error) {
	m, err := escaped.NewServer(setup.Setup, escaped.Limits{})
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: method.Translated{Machine: m, Meaning: meaning}, Finish: func() error {
		s.Problem = learner.Problem{Gram: m.Gram(), Labels: m.Labels(), Test: m.Test()}
		s.owner = m.Counts()
		return nil
	}}, nil
}

// meaning makes too many rows the job's fault.
func meaning(err error) error {
	var limit *escaped.LimitError
	if !errors.As(err, &limit) {
		return err
	}
	return fault.BadInputf("%w, or use protocol moments, which makes no such matrix", err)
}

// ended takes the facts for the statement of leakage.
func (s *server) ended(e method.End) {
	s.facts, s.words = s.facts.Join(e.Facts), rows.JoinWords(s.words, e.Words)
}

// evaluate decides the held-out rows.
func (s *server) evaluate(ctx context.Context, progress method.Reporter) error {
	first := 0
	for i, n := range s.owner {
		s.Hold(s.Parties[i], first, first+n, s.words[s.Parties[i]])
		first += n
	}
	return s.Do(ctx, s.Job, "evaluate", progress.Counts)
}

// writeModel writes functions of the kernel with training rows, of which the file holds products only.
func (s *server) writeModel(w io.Writer) error {
	m, err := s.Work.Rowless()
	if err != nil {
		return err
	}
	return model.EncodeRowless(w, m)
}

func (s *server) result() (*method.Result, error) {
	r := method.NewResult(s.Job, &s.Work)
	r.Leakage = s.leakage()
	return r, nil
}

// leakage describes in plain words what each role learns, computed for this job.
func (s *server) leakage() map[string][]string {
	lines := escaped.Leakage(escaped.Facts{
		Parties: s.Parties, TotalRows: len(s.Problem.Test), Labels: s.Problem.Labels != nil, Grid: s.facts.Grid != method.NoGrid,
	})
	if s.Job.Task().Numbers && s.Job.Data.Label != job.NoLabel {
		lines["server"] = append(lines["server"], "The labels of this job are the numbers to be predicted: the server learns each of them exactly.")
	}
	rows.Leakage(s.Case, lines, 0)
	rows.FiguresLeakage(lines, s.Assessment)
	for role := range lines {
		lines[role] = slices.Compact(lines[role])
	}
	return lines
}
