package fdsvrg

import (
	"cmp"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/columns"
)

// Keys are the settings of a job. There is mode paper only.
type Keys struct {
	job.Moded
	columns.Keys
}

// Defaults of the learner.
const (
	defaultEpochs = 20
	defaultBatch  = 16
)

// Section declares the keys.
func (k *Keys) Section() *section.Section {
	return &section.Section{
		Doc:    "A published rival of fdskl: parties train a linear model by stochastic gradients, and add up margins in the clear.",
		Fields: []section.Field{k.ModeKey(), k.IDsKey()}, Finish: k.CheckIDs,
	}
}

// Demands implements [job.Settings].
func (k *Keys) Demands() job.Demands {
	return job.Demands{Mode: k.Mode, Check: k.check, Limits: map[string]int{"max_ids": k.MaxIDs}}
}

// check asks for mode paper and for a linear model by a loss, and fills the learner's defaults.
func (k *Keys) check(j *job.Job, in *section.Place) error {
	_, course := learner.CourseOf(j)
	switch {
	case k.Mode != job.Paper:
		return in.Refuse("protocol", "protocol fd-svrg has mode paper only; write mode: paper, or use protocol fdskl, which masks what it adds up")
	case j.Prediction == job.Open:
		return in.Refuse("prediction", "fd-svrg has no prediction: open; remove it, or use protocol fdskl")
	case course == nil:
		return in.Refuse("learner", "protocol fd-svrg and learner %s do not go together; fd-svrg runs %s", j.Learner.Name(), learner.Able(", ", learner.On[learner.OnLoss]))
	case len(j.Kernels()) > 1 || j.Kernel.Name != job.Linear:
		return in.Refuse("kernel", "protocol fd-svrg trains a linear model; write kernel: {name: linear}")
	case j.Data.Folds > 0:
		return in.Refuse("data", "protocol fd-svrg chooses nothing by folds; use test: {fraction: 0.25}")
	}
	course.Iterations = cmp.Or(course.Iterations, defaultEpochs)
	course.Batch = cmp.Or(course.Batch, defaultBatch)
	return nil
}
