package learner

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/linear"
)

// Squared is a linear model with the squared loss; see learn/linear.
type Squared struct{ Descent }

var (
	_ LossLearner = (*Squared)(nil)
	_ job.Learner = (*Squared)(nil)
)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (Squared) Name() string        { return "squared" }
func (Squared) New() section.Values { return new(Squared) }
func (Squared) Task() job.Task      { return job.Numbers() }

// Section declares the keys of the job file.
func (l *Squared) Section() *section.Section {
	return l.section("A linear model on random features, by squared errors.")
}

// Loss implements [LossLearner].
func (*Squared) Loss() (linear.Loss, error) { return linear.Square{}, nil }

// Exact implements [LossLearner].
func (l *Squared) Exact(rows float64) job.Named { return exactRidge(rows * l.Lambda / 2) }
