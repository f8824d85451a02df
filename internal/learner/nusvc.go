package learner

import (
	"errors"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/model"
)

// NuSVC is nu-support-vector classification.
type NuSVC struct {
	svm.NuParams
	Cache
	Probability bool
	Seed        uint64
}

var (
	_ KernelLearner = (*NuSVC)(nil)
	_ Rowwise       = (*NuSVC)(nil)
	_ RowWeighted   = (*NuSVC)(nil)
	_ job.Learner   = (*NuSVC)(nil)
)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (NuSVC) Name() string        { return "nu-svc" }
func (NuSVC) New() section.Values { return new(NuSVC) }
func (NuSVC) Task() job.Task      { return job.Classes() }

// Section declares the keys of the job file.
func (s *NuSVC) Section() *section.Section {
	return &section.Section{
		Doc:    "Nu-support-vector classification, with a bound on the share of margin errors in place of a price.",
		Fields: []section.Field{nuKey(&s.Nu), tolKey(&s.Tol), probabilityKey(&s.Probability), s.key()},
		Finish: func(in *section.Place) error { return errors.Join(finishNu(in, s.NuParams), s.Cache.finish(in)) },
	}
}

// WeighsRows implements [RowWeighted].
func (NuSVC) WeighsRows() {}

// Solver implements [KernelLearner].
func (s *NuSVC) Solver(seed uint64) Solver {
	one := *s
	one.Seed = seed
	return one
}

// Fit implements [Solver].
func (s NuSVC) Fit(t Training) (*Solution, error) {
	s.Interrupt, s.CacheBytes = t.Interrupt, s.bytes()
	s.RowWeights = t.Weights
	return t.classify(model.NuSVC, func(codes []int, classes []string) (*svm.Classifier, *svm.Calibration, error) {
		c, err := svm.TrainNuSVC(t.Kernel, codes, classes, s.NuParams, t.Progress)
		if err != nil || !s.Probability {
			return c, nil, err
		}
		calibration, err := svm.CalibrateNuSVC(t.Kernel, codes, classes, s.NuParams, s.Seed)
		return c, calibration, err
	})
}

// Measure implements [Solver].
func (NuSVC) Measure(f *Fitted, m Metrics) error { return f.measureClasses(m) }
