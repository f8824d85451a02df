package learner

import (
	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/model"
)

// SpecOf builds what the sections kernel and learner of a job describe, which
// has neither grid nor units.
func SpecOf(j *job.Job) (Spec, error) {
	k, err := kernel.New(j.Kernel.Spec())
	if err != nil {
		return Spec{}, fault.BadInput(err)
	}
	m, err := solverOf(j.Learner, j.Seed)
	return Spec{Kernel: k, Solver: m}, err
}

func solverOf(l job.Named, seed uint64) (Solver, error) {
	on, able := l.Values.(OnKernel)
	if !able {
		return nil, fault.BadInputf("stage: learner %q cannot be run", l.Name())
	}
	return on.Solver(seed), nil
}

// Shaped says of which shape a learner's models are. The kinds of package model, which are
// older, need not.
type Shaped interface{ Shape() model.Shape }

// ReadingOf says what the numbers mean that a model of a job's learner gives for a row.
func ReadingOf(j *job.Job, classes []string) model.Reading {
	var s model.Shape
	if l, is := j.Learner.Values.(Shaped); is {
		s = l.Shape()
	}
	return model.Reading{Kind: model.NewKind(j.Learner.Name(), s), Classes: classes}
}
