package learner

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
)

// RidgeClassifier fits one ridge regression for each class. Its targets are +1 for rows of the
// class and -1 for other rows.
type RidgeClassifier struct {
	Alpha float64 // weight of |w|^2, as in [Ridge]
}

var (
	_ SumsLearner = (*RidgeClassifier)(nil)
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
