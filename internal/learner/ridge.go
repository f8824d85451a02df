package learner

import (
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// Ridge is kernel ridge regression on centred targets. Predictions add the mean of the targets
// again. With weights of rows, this mean is weighted.
type Ridge struct {
	Alpha float64 // weight of |w|^2 relative to the squared errors; above 0
}

var (
	_ KernelLearner = (*Ridge)(nil)
	_ SumsLearner   = (*Ridge)(nil)
	_ RowWeighted   = (*Ridge)(nil)
	_ job.Learner   = (*Ridge)(nil)
	_ leaveOneOuter = Ridge{}
)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (Ridge) Name() string        { return "ridge" }
func (Ridge) New() section.Values { return new(Ridge) }
func (Ridge) Task() job.Task      { return job.Numbers() }

// Section declares the keys of the job file.
func (r *Ridge) Section() *section.Section { return alphaSection("Kernel ridge regression.", &r.Alpha) }

// WeighsRows implements [RowWeighted].
func (Ridge) WeighsRows() {}

// Solver implements [KernelLearner].
func (r *Ridge) Solver(uint64) Solver { return *r }

// Sums implements [SumsLearner].
func (r *Ridge) Sums() Objective { return Objective{Penalty: r.Alpha} }

// Fit implements [Solver].
func (r Ridge) Fit(t Training) (*Solution, error) {
	y, err := parseNumbers(t.Labels)
	if err != nil {
		return nil, err
	}
	mean := weightedMean(y, t.Weights)
	for i := range y {
		y[i] -= mean
	}
	m, err := ridge.FitWeighted(t.Kernel, y, t.Weights, r.Alpha, t.Interrupt)
	if err != nil {
		return nil, err
	}
	s := denseSolution(singleHead(model.Ridge, model.Dense(m.Dual, -mean)), t)
	s.Inverted = Inverted{m.Condition, "alpha"}
	return s, nil
}

// LeaveOneOut implements leaveOneOuter. The regression without row i subtracts the mean m_i of the other
// targets. Let K be the kernel matrix, G = (K + alpha I)^-1, y the targets, and 1 the vector of ones. The error
// on row i is ([G y]_i - m_i [G 1]_i) / G_ii, because the residual of package ridge is linear in the targets.
func (r Ridge) LeaveOneOut(t Training) (model.Kind, linalg.Matrix[float64], error) {
	predicted, _, err := leftOutMeans(t, r.Alpha)
	return model.Ridge, linalg.Matrix[float64]{Rows: len(predicted), Cols: 1, Stride: 1, Data: predicted}, err
}

// Measure implements [Solver].
func (Ridge) Measure(f *Fitted, m Metrics) error { return f.measureNumbers(m) }
