package learner

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// RidgeClassifier fits one ridge regression for each class. Its targets are +1 for rows of the
// class and -1 for other rows.
type RidgeClassifier struct {
	Alpha float64 // weight of |w|^2, as in [Ridge]
}

var (
	_ SumsLearner = (*RidgeClassifier)(nil)
	_ Solver      = (*RidgeClassifier)(nil)
	_ job.Learner = (*RidgeClassifier)(nil)
)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (RidgeClassifier) Name() string        { return "ridge-classifier" }
func (RidgeClassifier) New() section.Values { return new(RidgeClassifier) }
func (RidgeClassifier) Task() job.Task      { return job.Classes() }

// Section declares the keys of the job file.
func (r *RidgeClassifier) Section() *section.Section {
	return alphaSection("A ridge regression for each class, on 1 for its rows and -1 for the others.", &r.Alpha)
}

// Sums implements [SumsLearner].
func (r *RidgeClassifier) Sums() Objective { return Objective{Penalty: r.Alpha} }

// Fit implements [Solver] with the exact kernel. The classes are those of t.Order, with or without
// rows. Jobs have random features instead; their result is compared with this one.
func (r RidgeClassifier) Fit(t Training) (*Solution, error) {
	head := model.Head{Output: model.Output{Kind: model.RidgeClassifier, Classes: t.Order}}
	y := linalg.New[float64](len(t.Order), len(t.Labels)) // targets, then coefficients
	for c, class := range t.Order {
		for i, label := range t.Labels {
			y.Row(c)[i] = -1
			if label == class {
				y.Row(c)[i] = 1
			}
		}
	}
	if err := ridge.FitTargetsUntil(t.Kernel, y, r.Alpha, t.Interrupt); err != nil {
		return nil, err
	}
	for c := range t.Order {
		head.Functions = append(head.Functions, model.Dense(y.Row(c), 0))
	}
	return denseSolution(head, t), nil
}

// Measure implements [Solver].
func (RidgeClassifier) Measure(f *Fitted, m Metrics) error { return f.measureClasses(m) }
