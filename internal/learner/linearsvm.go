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
		{Key: "schedule", Value: section.Choice[hinge.Schedule]{Noun: "schedule", Dst: &l.Schedule, Known: []hinge.Schedule{hinge.Pegasos, hinge.Published, hinge.Constant}},
			Default: string(hinge.Pegasos), Doc: "The rule for the length of a step."},
		{Key: "rate", Value: section.Number{Dst: &l.Rate}, Else: "1 with schedule: constant", Doc: "The length of a step with schedule: constant; rate times lambda is below 1."},
	}, Finish: l.finish}
}

// finish checks the numbers, and sets the default rate of the constant schedule.
func (l *LinearSVM) finish(in *section.Place) error {
	if err := errors.Join(in.Positive("lambda", l.Lambda), in.Some("iterations", l.Iterations), in.Some("average", l.Average)); err != nil {
		return err
	}
	if l.Schedule != hinge.Constant {
		if in.Given("rate") {
			return in.Refuse("rate", `"rate" is for "schedule: constant"; remove "rate", or add "schedule: constant"`)
		}
		return nil
	}
	in.Fallback("rate", &l.Rate, 1)
	if !(l.Rate > 0 && l.Rate*l.Lambda < 1) {
		return in.Refuse("rate", "rate is %g; write a number above 0 and below 1/lambda = %g", l.Rate, 1/l.Lambda)
	}
	return nil
}

// StepsOf returns the settings of a job's linear SVM, or nil if its learner is another one.
func StepsOf(j *job.Job) *Steps {
	if l, is := j.Learner.Values.(*LinearSVM); is {
		return &l.Steps
	}
	return nil
}
