package learner

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/linear"
)

// SmoothHinge is a linear model with a smoothed hinge loss; see learn/linear.
type SmoothHinge struct{ Descent }

var (
	_ LossLearner = (*SmoothHinge)(nil)
	_ job.Learner = (*SmoothHinge)(nil)
)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (SmoothHinge) Name() string        { return "smooth-hinge" }
func (SmoothHinge) New() section.Values { return new(SmoothHinge) }
func (SmoothHinge) Task() job.Task      { return job.Classes() }

// Section declares the keys of the job file.
func (l *SmoothHinge) Section() *section.Section {
	return l.section("A linear model on random features, by the hinge loss with its corner rounded.")
}

// Loss implements [LossLearner].
func (*SmoothHinge) Loss() (linear.Loss, error) { return linear.SmoothHinge{}, nil }

// Exact implements [LossLearner].
func (l *SmoothHinge) Exact(rows float64) job.Named { return exactMachine(rows * l.Lambda) }
