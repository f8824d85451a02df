package learner

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/model"
)

// SVR is epsilon-support-vector regression.
type SVR struct {
	svm.SVRParams
	Cache
}

var (
	_ KernelLearner = (*SVR)(nil)
	_ Rowwise       = (*SVR)(nil)
	_ RowWeighted   = (*SVR)(nil)
	_ job.Learner   = (*SVR)(nil)
)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (SVR) Name() string        { return "svr" }
func (SVR) New() section.Values { return new(SVR) }
func (SVR) Task() job.Task      { return job.Numbers() }

// Section declares the keys of the job file.
func (s *SVR) Section() *section.Section {
	return &section.Section{Doc: "Epsilon-support-vector regression.", Fields: []section.Field{
		cKey(&s.C),
		{Key: "epsilon", Value: section.AlsoZero{Number: section.Number{Dst: &s.Epsilon}}, List: true, Default: "0.1",
			Doc: "The error that costs nothing, at least 0, in the unit of the labels."},
		tolKey(&s.Tol), s.key(),
	}, Finish: func(in *section.Place) error {
		return errors.Join(checkC(in, s.C), in.NotNegative("epsilon", s.Epsilon), in.Positive("tol", s.Tol), s.Cache.finish(in))
	}}
}

// WeighsRows implements [RowWeighted].
func (SVR) WeighsRows() {}

// Solver implements [KernelLearner].
func (s *SVR) Solver(uint64) Solver { return *s }

// Fit implements [Solver].
func (s SVR) Fit(t Training) (*Solution, error) {
	y, err := parseNumbers(t.Labels)
	if err != nil {
		return nil, err
	}
	s.Interrupt, s.CacheBytes = t.Interrupt, s.bytes()
	s.RowWeights = t.Weights
	m, err := svm.TrainSVR(t.Kernel, y, s.SVRParams)
	if err != nil {
		return nil, err
	}
	return machineSolution(model.SVR, m), nil
}

// Measure implements [Solver].
func (SVR) Measure(f *Fitted, m Metrics) error { return f.measureNumbers(m) }
