// Package okra runs jobs of protocol OKRA, in which the coordinator learns from the exact Gram
// matrix of rows that the parties have encoded. Every party encodes its rows by an isometry that
// the parties share, and sends them to the coordinator. See protocol/okra.
package okra

import (
	"context"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	machine "github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/okra"
)

// Protocol returns the method that runs protocol OKRA.
func Protocol() *method.Protocol { return itself }

var itself = Bind(Variant{Name: "okra", Keys: func() job.Settings { return new(Keys) }, Labels: true, Left: writtenForOkra})

// Variant describes a method that runs on OKRA's machines under its own name and settings.
type Variant struct {
	Name   string
	Keys   func() job.Settings // returns the settings, which must implement [Settings]
	Labels bool                // parties send labels with their rows
	// The function Left reports whether a retained state without a protocol's name belongs to this
	// variant. It is nil if no earlier version of the program wrote such a state.
	Left func([]byte) bool
}

// Bind returns the method that runs a variant of OKRA.
func Bind(v Variant) *method.Protocol {
	if v.Left == nil {
		v.Left = func([]byte) bool { return false }
	}
	return method.New(method.Binding[party, server, rows.Total]{
		Name: v.Name, Keys: v.Keys,
		Traits: job.Traits{Grouped: true, Weighted: true, Learns: learner.On[learner.KernelLearner], Undeployable: undeployable}, // each party assigns its own groups of rows to folds
		Steps:  steps, NewServer: newServer,
		NewParty: func(c method.Instance, self string, t method.Table) (*party, error) {
			return newParty(c, self, t, v.Labels)
		},
		Public: (*party).public, PublicServer: (*server).public, Facts: (*party).facts, Minimums: method.NoMinimums, Result: (*server).result, Ended: (*server).storeFacts,
		Model:      &method.ModelOf[server]{Write: (*server).writeModel, Private: true}, // the model is private, because it holds encoded rows
		Outcome:    (*server).outcome,
		OwnFigures: (*party).checkOwnFigures,
		Later: &method.LaterOf[party, server]{
			Continues: earlierJob,
			Lasts:     (*party).isContinuable, Write: (*party).writeContinuation, Resume: (*party).resumeFrom,
			LastsServer: (*server).isContinuable, WriteServer: (*server).writeContinuation, ResumeServer: (*server).resumeFrom,
		},
		Questions: &method.QuestionsOf[party, server]{
			Keep: (*party).retainState, KeepServer: (*server).retainState, OpenParty: openParty, OpenServer: openServer, Left: v.Left,
		},
		Prepares: &method.PreparesOf[party, server]{
			Made:    func(p *party) *prepare.Preparation { return p.Split.Prepared },
			Heard:   func(s *server) (*learner.Prepared, error) { return s.Witness.Prepared() },
			Notices: func(p *party) []string { return p.Party.Notices() },
		},
		Present: presentChanges,
		Foresee: v.foresee(),
	})
}

// step is one step of an OKRA job.
type step = method.StepOf[party, server, rows.Total]

// steps plans a job. The parties agree on columns and a scaling and send encoded rows. The
// coordinator selects settings by folds if the job has any, learns, and evaluates.
func steps(c method.Instance) ([]step, error) {
	changes := changesOf(c.Job)
	switch {
	case changes != nil:
		return changes.plan(c)
	case changesContinuing(c.Job) != nil:
		return continuingSteps(c)
	}
	plan, err := uploadSteps(c)
	plan = append(plan, rows.FoldSteps(c, (*party).foldMachine, (*server).foldMachine)...)
	plan = append(plan, rows.WeightSteps(c, (*party).weightMachine, (*server).weightMachine)...)
	return append(plan, learningSteps(c)...), err
}

// learningSteps returns the coordinator's computations after it has received the rows.
func learningSteps(c method.Instance) (list []step) {
	if c.Job.Data.Folds > 0 {
		list = append(list, step{Name: "tune", Compute: stageFunc("tune"), Cost: learningCost(c, "tune")})
	}
	return append(list,
		step{Name: "learn", Compute: (*server).learn, Cost: learningCost(c, "learn")},
		step{Name: "evaluate", Compute: (*server).evaluate, Cost: learningCost(c, "evaluate")})
}

// stageFunc returns the computation of one stage of the learner.
func stageFunc(stage string) func(*server, context.Context, method.Reporter) error {
	return func(s *server, ctx context.Context, progress method.Reporter) error {
		return s.Do(ctx, s.Job, stage, progress.Counts)
	}
}

// okraSteps converts the steps of package rows to steps of OKRA.
func okraSteps(list []rows.Step, costs ...account) []step {
	out := method.Lift(func(p *party) *rows.Party { return p.Party }, func(s *server) *rows.Witness { return &s.Witness }, noValue, list)
	for i := range out {
		out[i].Ended = countSent(costs...)
	}
	return out
}

func noValue(rows.Total) struct{} { return struct{}{} }

// uploadSteps returns the steps in which all parties of an instance prepare and upload their rows.
func uploadSteps(c method.Instance) ([]step, error) {
	before, err := rows.Steps(c)
	if err != nil {
		return nil, err
	}
	s, err := rowsSession(c)
	upload := uploadStep("protocol", s, first, (*party).allRows)
	upload.Cost = uploadCost(c.Job)
	return append(okraSteps(before, first), upload), err
}

// uploadStep returns the step in which all parties send all their rows under a new seed.
func uploadStep(name string, s *method.Session, of account, lets func(*party) ([]method.Release, error)) step {
	return step{
		Name: name, Session: s, Party: (*party).uploader, Releases: lets,
		Server: collecting(of, func(s *server, in machine.Setup, p okra.Params) (*okra.Server, error) {
			return okra.NewServer(in, p, okra.Limits{})
		}),
		Ended: countSent(of),
	}
}

// rowsSession returns a session in which parties send encoded rows.
func rowsSession(c method.Instance) (*method.Session, error) {
	params, err := paramsOf(c.Job)
	return &method.Session{
		Protocol: okra.Name, Version: okra.Version, Params: params.Encode(), Members: c.AllMembers(), Purpose: "train",
		SlowTimers: []machine.Timer{okra.TimerReceipt},
	}, err
}

// Settings are the settings of a job on OKRA's machines. They belong to this method, or to a
// variant with its own encoder.
type Settings interface {
	section.Values
	Spec() okra.Spec
}

// paramsOf returns the parameters of protocol OKRA that follow from a job's settings.
func paramsOf(j *job.Job) (okra.Params, error) {
	return okra.NewParams(job.As[Settings](j.Protocol).Spec())
}
