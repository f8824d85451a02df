// Package escaped is the method ESCAPED: every two parties compute masked products of their rows,
// and the coordinator puts them together into the Gram matrix of all rows. It is here to be
// compared with: parties can read each other's rows. See protocol/escaped.
package escaped

import (
	"context"

	"github.com/mercer-fl/mercer/dataset/prepare"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/escaped"
)

// Protocol is ESCAPED.
func Protocol() *method.Protocol { return itself }

// none are the public values: the job says all.
type none = struct{}

var itself = method.New(method.Binding[party, server, none]{
	Name: "escaped", Keys: func() job.Settings { return new(Keys) },
	Steps: steps, NewParty: newParty, NewServer: newServer,
	Public:       func(*party) none { return none{} },
	PublicServer: func(*server) none { return none{} },
	Facts:        (*party).facts, Minimums: method.NoMinimums, Result: (*server).result, Ended: (*server).ended,
	Model:      &method.ModelOf[server]{Write: (*server).writeModel},
	Outcome:    func(s *server) *method.Outcome { return method.NewOutcome(s.Fitted) },
	OwnFigures: (*party).ownFigures,
	Prepares: &method.PreparesOf[party, server]{
		Made:    func(p *party) *prepare.Preparation { return p.Split.Prepared },
		Heard:   func(s *server) (*learner.Prepared, error) { return s.Witness.Prepared() },
		Remarks: func(p *party) []string { return p.Party.Remarks() },
	},
	NoFile: func(*job.Job) string {
		return "has no file: it is over products of rows (protocol escaped), and new rows have none"
	},
})

// Keys are the settings of a job.
type Keys struct{ job.Moded }

// Section declares the keys.
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

// check asks for mode paper, for closed predictions and for a learner on the Gram matrix.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	switch {
	case k.Mode != job.Paper:
		return in.Refuse("protocol", "protocol escaped lets a party read the rows of the parties before it, and there is no hardened version; use okra, or add mode: paper to compare with it")
	case j.Prediction == job.Open:
		return in.Refuse("prediction", "a model of escaped is over products of rows, which new rows have not; remove prediction: open")
	}
	return learner.OnMatrix(j, in)
}

// step is a step of this binding's.
type step = method.StepOf[party, server, none]

// steps: the parties agree on columns and a scaling and meet in pairs; the coordinator chooses by folds
// if the job has any, learns, and evaluates.
func steps(c method.Case) ([]step, error) {
	before, err := rows.Steps(c)
	if err != nil {
		return nil, err
	}
	plan := method.Lift(func(p *party) *rows.Party { return p.Party }, func(s *server) *rows.Witness { return &s.Witness }, func(none) none { return none{} }, before)
	plan = append(plan, step{
		Name: "protocol", Session: &method.Session{
			Protocol: escaped.Name, Version: escaped.Version, Members: c.Everybody(), Purpose: "train", Discloses: escaped.RowsKinds(),
			Patient: []protocol.Timer{escaped.TimerGrant, escaped.TimerPartner, escaped.TimerProducts, escaped.TimerReceipt},
		},
		Party: (*party).meet, Server: (*server).adder, Releases: (*party).release,
	})
	if c.Job.Data.Folds > 0 {
		plan = append(plan, step{Name: "tune", Compute: work("tune")})
	}
	return append(plan, step{Name: "learn", Compute: work("learn")}, step{Name: "evaluate", Compute: (*server).evaluate}), nil
}

// work is a stage of a learner's.
func work(stage string) func(*server, context.Context, method.Reporter) error {
	return func(s *server, ctx context.Context, progress method.Reporter) error {
		return s.Do(ctx, s.Job, stage, progress.Counts)
	}
}
