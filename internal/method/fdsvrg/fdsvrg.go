// Package fdsvrg runs jobs of protocol FD-SVRG, in which parties with different columns of the same
// people train a linear model by variance-reduced stochastic gradients. FD-SVRG is a published
// rival of FDSKL. The first party has the labels. See protocol/fdsvrg.
package fdsvrg

import (
	"cmp"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/protocol/fdsvrg"
)

// Protocol returns the method that runs protocol FD-SVRG.
func Protocol() *method.Protocol { return itself }

var itself = method.New(method.Binding[party, server, columns.Declared]{
	Name: "fd-svrg", Keys: func() job.Settings { return new(Keys) }, Traits: job.Traits{Cuts: job.Columns, Learns: learner.On[learner.LossLearner], NoStudy: job.PaperOnly},
	Steps: steps, NewParty: newParty, NewServer: newServer,
	Public:       func(p *party) columns.Declared { return p.Declared },
	PublicServer: func(s *server) columns.Declared { return s.Declared },
	Facts:        method.NoFacts[party], Minimums: method.NoMinimums, Result: (*server).result, Ended: method.IgnoresEnds[server],
	Model:   &method.ModelOf[server]{Write: (*server).writeModel},
	Outcome: func(s *server) *method.Outcome { return s.ReportedServer.Outcome() },
	Hands:   &method.HandsOf[party]{Order: func(p *party) []string { return p.Aligned() }, Alignment: func(p *party) []byte { return p.ToKeep() }, Judged: (*party).judged},
	Prepares: &method.PreparesOf[party, server]{
		Heard: func(s *server) (*learner.Prepared, error) { return s.Server.Prepared() },
	},
	NoFile: columns.Undownloadable,
})

// step is one step of an FD-SVRG job.
type step = method.StepOf[party, server, columns.Declared]

// steps plans a job. The parties align their rows and train. Then the first party sends its figures
// to the coordinator.
func steps(c method.Instance) ([]step, error) {
	plan, err := columns.Steps(c, columns.As[party, server]{
		Party: func(p *party) *columns.Party { return p.Party }, Server: func(s *server) *columns.Server { return &s.Server },
		Declare: (*party).declare, Usable: usable(c.Job), Lets: (*party).products,
	})
	if err != nil {
		return nil, err
	}
	if len(c.Parties) > fdsvrg.MaxWorkers {
		return nil, fmt.Errorf("fdsvrg: the job has %d parties; name at most %d", len(c.Parties), fdsvrg.MaxWorkers)
	}
	return append(plan, step{
		Name: "protocol", Session: &method.Session{
			Protocol: fdsvrg.Name, Version: fdsvrg.Version, Members: c.DataParties(), Purpose: "train",
		},
		Follow: method.From(func(d columns.Declared) ([]byte, error) {
			p, err := paramsOf(c.Job, d)
			if err != nil {
				return nil, err
			}
			return p.Encode(), nil
		}),
		Party: (*party).worker, Releases: (*party).products,
	}, columns.ReportStep(c, outcomeBytes(c.Job.Task()), (*party).tell, (*server).hear)), nil
}

// paramsOf returns the parameters of the training session, from all parties' declarations.
func paramsOf(j *job.Job, d columns.Declared) (fdsvrg.Params, error) {
	rows, err := d.Rows()
	if err != nil {
		return fdsvrg.Params{}, err
	}
	train, test, err := columns.Sizes(j, rows)
	if err != nil {
		return fdsvrg.Params{}, fault.BadInput(err)
	}
	_, params := learner.OptimizerParamsOf(j)
	p, err := fdsvrg.NewParams(fdsvrg.Spec{
		Rows: train, HeldOut: test, Outputs: 1, Batch: min(params.Batch, train), Epochs: params.Iterations, Alignment: d.Digest,
	})
	if err != nil {
		return fdsvrg.Params{}, fault.BadInput(err)
	}
	return p, nil
}

// usable returns a check that refuses declarations with which the parties cannot train.
func usable(j *job.Job) func(columns.Declared) error {
	return func(d columns.Declared) error {
		_, err := paramsOf(j, d)
		return err
	}
}

// Keys holds the settings of protocol fd-svrg in a job file. The only mode is paper.
type Keys struct {
	job.Moded
	columns.Keys
}

var _ job.Settings = (*Keys)(nil)

// Default values of the learner's settings.
const (
	defaultEpochs = 20
	defaultBatch  = 16
)

// Section declares the keys of protocol fd-svrg in a job file.
func (k *Keys) Section() *section.Section {
	return &section.Section{
		Doc:    "A published rival of fdskl: parties train a linear model by stochastic gradients, and add up margins in the clear.",
		Fields: []section.Field{k.ModeKey(), k.IDsKey()}, Finish: k.CheckIDs,
	}
}

// Demands returns what the settings demand of a job; it implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: k.check, Limits: map[string]int{"max_ids": k.MaxIDs}}
}

// check refuses a job that is not in mode paper, has open predictions or folds, or has no linear model with a
// loss. It sets the defaults of the learner's settings.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	_, params := learner.OptimizerParamsOf(j)
	switch {
	case k.Mode != job.Paper:
		return in.Refuse("protocol", `protocol fd-svrg has mode paper only; write "mode: paper", or use protocol fdskl, which masks its sums`)
	case j.Prediction == job.Open:
		return in.Refuse("prediction", `protocol fd-svrg cannot predict new rows; remove "prediction: open", or use protocol fdskl`)
	case params == nil:
		return in.Refuse("learner", "protocol fd-svrg does not run learner %s; it runs %s", j.Learner.Name(), learner.Able(", ", learner.On[learner.LossLearner]))
	case len(j.Kernels()) > 1 || j.Kernel.Name != job.Linear:
		return in.Refuse("kernel", `protocol fd-svrg trains a linear model, and takes no other kernel; write "kernel: {name: linear}"`)
	case j.Data.Folds > 0:
		return in.Refuse("data.folds", `protocol fd-svrg has no folds; use "test: {fraction: 0.25}"`)
	}
	params.Iterations = cmp.Or(params.Iterations, defaultEpochs)
	params.Batch = cmp.Or(params.Batch, defaultBatch)
	return nil
}
