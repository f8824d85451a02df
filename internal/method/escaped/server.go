package escaped

import (
	"context"
	"errors"
	"fmt"
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

// Server implements [method.Federated].
func (Method) Server(c method.Case) (method.Server, error) {
	return &server{Case: c, Witness: rows.WitnessOf(c)}, nil
}

// Known implements [method.Member]: the job says all.
func (*server) Known() method.Known { return nil }

// Machine implements [method.Member]: it adds products up to a Gram matrix.
func (s *server) Machine(step string, setup method.Setup) (*method.Run, error) {
	if s.Hears(step) {
		return s.Hear(setup)
	}
	if step != "protocol" {
		return nil, fmt.Errorf("escaped: no step %s", step)
	}
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

// Ended implements [method.Observer]: the facts are for the statement of leakage.
func (s *server) Ended(_ string, e method.End) {
	s.facts, s.words = s.facts.Join(e.Facts), rows.JoinWords(s.words, e.Words)
}

// Compute implements [method.Server].
func (s *server) Compute(ctx context.Context, step string, progress method.Reporter) error {
	if step == "evaluate" {
		first := 0
		for i, n := range s.owner {
			s.Hold(s.Parties[i], first, first+n, s.words[s.Parties[i]])
			first += n
		}
	}
	return s.Do(ctx, s.Job, step, progress.Counts)
}

// Outcome implements [method.Decider].
func (s *server) Outcome() *method.Outcome { return method.NewOutcome(s.Fitted) }

// WriteModel implements [method.Model]: functions of the kernel with training rows, of which the
// file holds products only.
func (s *server) WriteModel(w io.Writer) error {
	m, err := s.Work.Rowless()
	if err != nil {
		return err
	}
	return model.EncodeRowless(w, m)
}

// Private implements [method.Model]: no row is in the model.
func (*server) Private() bool { return false }

// Result implements [method.Server].
func (s *server) Result() (*method.Result, error) {
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
