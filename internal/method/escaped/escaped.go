// Package escaped binds protocol ESCAPED to learners. Every two parties compute masked products of
// their rows, and the coordinator assembles the products into the Gram matrix of all rows. The
// method exists for comparison only, because a party can read the rows of all parties that the job lists
// before it. See protocol/escaped.
package escaped

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/escaped"
)

// Protocol returns the binding of ESCAPED.
func Protocol() *method.Protocol { return itself }

// noValues is the empty type of the public values. The method has no such values, because the job
// determines everything.
type noValues = struct{}

var itself = method.New(method.Binding[party, server, noValues]{
	Name: "escaped", Keys: func() job.Settings { return new(Keys) }, Traits: job.Traits{Learns: learner.RunsOnMatrix, NoStudy: job.PaperOnly},
	Steps: steps, NewParty: newParty, NewServer: newServer,
	Public:       func(*party) noValues { return noValues{} },
	PublicServer: func(*server) noValues { return noValues{} },
	Facts:        (*party).facts, Minimums: method.NoMinimums, Result: (*server).result, Ended: (*server).ended,
	Model:      &method.ModelOf[server]{Write: (*server).writeModel},
	Outcome:    func(s *server) *method.Outcome { return method.NewOutcome(s.Fitted) },
	OwnFigures: (*party).ownFigures,
	Prepares: &method.PreparesOf[party, server]{
		Made:    func(p *party) *prepare.Preparation { return p.Split.Prepared },
		Heard:   func(s *server) (*learner.Prepared, error) { return s.Witness.Prepared() },
		Notices: func(p *party) []string { return p.Party.Notices() },
	},
	NoFile: func(*job.Job) string {
		return "has no file: it is over products of rows (protocol escaped), and new rows have none"
	},
})

// Keys holds the protocol's settings in a job.
type Keys struct{ job.Moded }

var _ job.Settings = (*Keys)(nil)

// Section declares the protocol's keys in a job file.
func (k *Keys) Section() *section.Section {
	return &section.Section{
		Doc:    "Every two parties compute masked products of their rows. For comparison only: a party can read the rows of the parties before it.",
		Fields: []section.Field{k.ModeKey()},
	}
}

// Demands implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: k.check}
}

// check requires mode paper, closed predictions and a learner that takes a Gram matrix.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	switch {
	case k.Mode != job.Paper:
		return in.Refuse("protocol", `protocol escaped lets a party read the rows of all parties that the job lists earlier, and has no hardened version; use okra, or add "mode: paper" to compare with escaped`)
	case j.Prediction == job.Open:
		return in.Refuse("prediction", `a model of escaped needs products with its training rows, which the protocol does not compute for new rows; remove "prediction: open"`)
	}
	return learner.OnMatrix(j, in)
}

// step is a step of the ESCAPED plan.
type step = method.StepOf[party, server, noValues]

// steps returns the plan of a job. The parties agree on columns and a scaling, and compute products
// in pairs. The coordinator tunes by folds if the job has any, learns, and evaluates.
func steps(c method.Instance) ([]step, error) {
	before, err := rows.Steps(c)
	if err != nil {
		return nil, err
	}
	plan := method.Lift(func(p *party) *rows.Party { return p.Party }, func(s *server) *rows.Witness { return &s.Witness }, func(noValues) noValues { return noValues{} }, before)
	plan = append(plan, step{
		Name: "protocol", Session: &method.Session{
			Protocol: escaped.Name, Version: escaped.Version, Members: c.AllMembers(), Purpose: "train",
			SlowTimers: []protocol.Timer{escaped.TimerGrant, escaped.TimerPartner, escaped.TimerProducts, escaped.TimerReceipt},
		},
		Party: (*party).productsMachine, Server: (*server).adder, Releases: (*party).release,
	})
	if c.Job.Data.Folds > 0 {
		plan = append(plan, step{Name: "tune", Compute: learnerStage("tune")})
	}
	return append(plan, step{Name: "learn", Compute: learnerStage("learn")}, step{Name: "evaluate", Compute: (*server).evaluate}), nil
}

// learnerStage returns a function that runs one stage of the learner at the coordinator.
func learnerStage(stage string) func(*server, context.Context, method.Reporter) error {
	return func(s *server, ctx context.Context, progress method.Reporter) error {
		return s.Do(ctx, s.Job, stage, progress.Counts)
	}
}

// party is the state of a party with rows during an ESCAPED job.
type party struct {
	*rows.Party
	hasProducts bool // true after the party has computed products with all other parties
}

func newParty(c method.Instance, self string, t method.Table) (*party, error) {
	p, err := rows.Of(c, self, t)
	if err != nil {
		return nil, err
	}
	own := &party{Party: p}
	p.Lets = own.release
	return own, c.Limits.CheckRows(c.Job.Protocol.Name(), p.Split.Set.X.Rows())
}

// productsMachine builds the party's machine, which computes products with all other parties in
// pairs.
func (p *party) productsMachine(setup method.Setup) (*method.Run, error) {
	m, err := escaped.NewParty(setup.Setup, escaped.Input{Rows: p.Rows, Labels: p.Split.Set.Labels, Test: p.Split.Test})
	return method.RunOf(m, err, func() error {
		p.hasProducts = true
		return nil
	})
}

// release returns one release, which covers all the party's rows.
func (p *party) release() ([]method.Release, error) {
	return []method.Release{p.Release(method.ReleaseRows)}, nil
}

// ownFigures refuses metrics over the party's own held-out rows if there are too few of these rows.
func (p *party) ownFigures() error { return rows.CheckOwnFigures(p.Limits, p.Job, p.Split) }

// facts returns the facts for the statement of leakage. It returns none before the session.
func (p *party) facts() method.Facts {
	if !p.hasProducts {
		return method.Facts{}
	}
	return method.Facts{Known: true, Grid: p.Grid()}
}

// server is the coordinator, which learns from the Gram matrix.
type server struct {
	method.Instance
	rows.Witness
	learner.Work
	facts       method.Facts
	permissions map[string]learner.FigurePermission // each party's decision on metrics over its own rows
	counts      []int                               // number of rows of each party
}

func newServer(c method.Instance) (*server, error) {
	return &server{Instance: c, Witness: rows.WitnessOf(c), Work: learner.Work{Workers: c.Workers}}, nil
}

// adder builds the machine that assembles the parties' products into a Gram matrix.
func (s *server) adder(setup method.Setup) (*method.Run, error) {
	m, err := escaped.NewServer(setup.Setup, escaped.Limits{})
	if err != nil {
		return nil, err
	}
	return &method.Run{Machine: method.Translated{Machine: m, Meaning: tooManyRows}, Finish: func() error {
		s.Problem = learner.Problem{Gram: m.Gram(), Labels: m.Labels(), Test: m.Test()}
		s.counts = m.Counts()
		return nil
	}}, nil
}

// tooManyRows turns an error about too many rows into a fault of the job.
func tooManyRows(err error) error {
	var limit *escaped.LimitError
	if !errors.As(err, &limit) {
		return err
	}
	return fault.BadInputf("%w, or use protocol moments, which makes no such matrix", err)
}

// ended stores the parties' facts for the statement of leakage, and their permissions for figures over
// their own rows.
func (s *server) ended(e method.End) {
	s.facts, s.permissions = s.facts.Join(e.Facts), rows.JoinWords(s.permissions, e.Words)
}

// evaluate computes the decisions on the held-out rows.
func (s *server) evaluate(ctx context.Context, progress method.Reporter) error {
	first := 0
	for i, n := range s.counts {
		s.Hold(s.Parties[i], first, first+n, s.permissions[s.Parties[i]])
		first += n
	}
	return s.Do(ctx, s.Job, "evaluate", progress.Counts)
}

// writeModel writes a model that holds products of training rows instead of the rows.
func (s *server) writeModel(w io.Writer) error {
	m, err := s.Work.Rowless()
	if err != nil {
		return err
	}
	return model.EncodeRowless(w, m)
}

func (s *server) result() (*method.Result, error) {
	r := method.NewResult(s.Job, &s.Work)
	facts := s.leakageFacts()
	r.Leakage, r.Exposures = s.leakage(facts), escaped.Exposures(facts)
	rows.Expose(s.Instance, r)
	return r, nil
}

// leakageFacts returns the properties of the job on which its leakage depends.
func (s *server) leakageFacts() escaped.Facts {
	gram := s.Problem.Gram
	return escaped.Facts{
		Parties: s.Parties, TotalRows: len(s.Problem.Test), Labels: s.Problem.Labels != nil, Grid: s.facts.Grid != method.NoGrid,
		Dependent: s.facts.Grid == method.AllGrid && method.RankOf(gram) < gram.Rows,
	}
}

// leakage describes in plain words what each role learns in this job.
func (s *server) leakage(f escaped.Facts) map[string][]string {
	lines := escaped.Leakage(f)
	if s.Job.Task().Numbers && s.Job.Data.Label != job.NoLabel {
		lines["server"] = append(lines["server"], "The labels of this job are the numbers to be predicted: the server learns each of them exactly.")
	}
	rows.Leakage(s.Instance, lines, 0)
	rows.FiguresLeakage(lines, s.Assessment)
	for role := range lines {
		lines[role] = slices.Compact(lines[role])
	}
	return lines
}
