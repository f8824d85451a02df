package learner

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/hinge"
)

// LinearSVM is the linear support vector machine of package learn/hinge.
type LinearSVM struct{ Steps }

var _ job.Learner = (*LinearSVM)(nil)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (LinearSVM) Name() string        { return "linear-svm" }
func (LinearSVM) New() section.Values { return new(LinearSVM) }
func (LinearSVM) Task() job.Task      { return job.Classes() }

// Section declares the keys of the job file. By default the last two weight vectors are averaged,
// as published.
func (l *LinearSVM) Section() *section.Section {
	return &section.Section{Doc: "A linear support vector machine with two classes, trained by subgradient steps.", Fields: []section.Field{
		weightKey(&l.ClassWeight, "A factor on the loss for each class, above 0."),
		lambdaKey(&l.Lambda, "0.001", "The penalty on the squared norm, above 0."),
		{Key: "iterations", Value: section.Whole{Dst: &l.Iterations}, Default: "300", Doc: "The number of steps, 1 or more."},
		{Key: "average", Value: section.Whole{Dst: &l.Average}, Default: "2", Doc: "The number of last weight vectors that are averaged, 1 or more."},
		{Key: "schedule", Value: section.Choice[hinge.Schedule]{Noun: "schedule", Dst: &l.Schedule, Known: []hinge.Schedule{hinge.Pegasos, hinge.Published}},
			Default: string(hinge.Pegasos), Doc: "The rule for the length of a step."},
	}, Finish: func(in *section.Place) error {
		return errors.Join(in.Positive("lambda", l.Lambda), in.Some("iterations", l.Iterations), in.Some("average", l.Average))
	}}
}

// StepsOf returns the settings of a job's linear SVM, or nil if its learner is another one.
func StepsOf(j *job.Job) *Steps {
	if l, is := j.Learner.Values.(*LinearSVM); is {
		return &l.Steps
	}
	return nil
}
