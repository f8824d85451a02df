package learner

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/linear"
)

// Logistic is a linear model with the logistic loss; see learn/linear.
type Logistic struct{ Descent }

var (
	_ LossLearner = (*Logistic)(nil)
	_ job.Learner = (*Logistic)(nil)
)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (Logistic) Name() string        { return "logistic" }
func (Logistic) New() section.Values { return new(Logistic) }
func (Logistic) Task() job.Task      { return job.Classes() }

// Section declares the keys of the job file.
func (l *Logistic) Section() *section.Section {
	return l.section("A linear model on random features, by the logistic loss.")
}

// Loss implements [LossLearner].
func (*Logistic) Loss() (linear.Loss, error) { return linear.Logistic{}, nil }

// Exact implements [LossLearner].
func (l *Logistic) Exact(rows float64) job.Named { return exactMachine(rows * l.Lambda) }
