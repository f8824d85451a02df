package learner

import (
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/linear"
)

// Huber is a linear model with the Huber loss, which is half the square for small errors and linear
// for large ones; see learn/linear.
type Huber struct {
	Descent
	Delta float64 // error at which the loss becomes linear, in the unit of the labels
}

var (
	_ LossLearner = (*Huber)(nil)
	_ job.Learner = (*Huber)(nil)
)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (Huber) Name() string        { return "huber" }
func (Huber) New() section.Values { return new(Huber) }
func (Huber) Task() job.Task      { return job.Numbers() }

// Section declares the keys of the job file.
func (l *Huber) Section() *section.Section {
	s := l.section("A linear model on random features, by the Huber loss: squared for small errors, linear for large ones.")
	s.Fields = slices.Insert(s.Fields, 2, section.Field{Key: "delta", Value: section.Number{Dst: &l.Delta}, Default: "1",
		Doc: "The error, above 0, from which the loss is linear, in the unit of the labels."})
	s.Finish = func(in *section.Place) error { return errors.Join(l.finish(in), in.Positive("delta", l.Delta)) }
	return s
}

// Loss implements [LossLearner].
func (l *Huber) Loss() (linear.Loss, error) { return linear.NewHuber(l.Delta) }

// Exact implements [LossLearner].
func (l *Huber) Exact(rows float64) job.Named { return exactRidge(rows * l.Lambda) }
