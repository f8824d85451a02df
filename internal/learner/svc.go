package learner

import (
	"maps"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/learn/tune"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// SVC is C-support-vector classification.
type SVC struct {
	svm.Params
	Cache
	// Probability adds the probability of each class after the decisions. Five inner folds, which
	// Seed draws, calibrate the classifier.
	Probability bool
	Seed        uint64
	// Balanced gives rare classes a larger weight. The weight of a class is n / (k n_c) for n
	// training rows, n_c of them in the class, and k classes. This is scikit-learn's class_weight
	// "balanced". It replaces Weights.
	Balanced bool
}

var (
	_ KernelLearner = (*SVC)(nil)
	_ Rowwise       = (*SVC)(nil)
	_ RowWeighted   = (*SVC)(nil)
	_ job.Learner   = (*SVC)(nil)
)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (SVC) Name() string        { return "svc" }
func (SVC) New() section.Values { return new(SVC) }
func (SVC) Task() job.Task      { return job.Classes() }

// Section declares the keys of the job file.
func (s *SVC) Section() *section.Section {
	return &section.Section{Doc: "C-support-vector classification.", Fields: []section.Field{
		cKey(&s.C), tolKey(&s.Tol), {Key: "class_weight", Value: balance{classWeights{section.Weights{Dst: &s.Weights}}, &s.Balanced}, Else: "1 for each class",
			Doc: "A factor on C for each class, above 0. balanced weighs each class by n / (k n_c), for n training rows, n_c of the class, and k classes."}, probabilityKey(&s.Probability), s.key(),
	}, Finish: s.finish}
}

// finish checks C and tol. The gap before training is 2, so tol must be below 2.
func (s *SVC) finish(in *section.Place) error {
	if err := checkC(in, s.C); err != nil {
		return err
	}
	if s.Tol <= 0 || s.Tol >= 2 {
		return in.Refuse("tol", "tol is %g; write a number above 0 and below 2, such as 0.001", s.Tol)
	}
	return s.Cache.finish(in)
}

// WeighsRows implements [RowWeighted].
func (SVC) WeighsRows() {}

// Solver implements [KernelLearner].
func (s *SVC) Solver(seed uint64) Solver {
	one := *s
	one.Seed = seed
	return one
}

// Only returns the learner svc without the class weights of unlisted classes, and any other learner unchanged.
func Only(l job.Named, classes []string) job.Named {
	s, weighted := l.Values.(*SVC)
	if !weighted {
		return l
	}
	one := *s
	one.Weights = maps.Clone(s.Weights)
	maps.DeleteFunc(one.Weights, func(class string, _ float64) bool { return !slices.Contains(classes, class) })
	return job.Named{Kind: l.Kind, Values: &one}
}

// Fit implements [Solver].
func (s SVC) Fit(t Training) (*Solution, error) {
	p := s.params(t.Interrupt)
	p.RowWeights = t.Weights
	return t.classify(model.SVC, func(codes []int, classes []string) (*svm.Classifier, *svm.Calibration, error) {
		if s.Balanced {
			p.Weights = balancedWeights(codes, classes)
		}
		c, err := svm.TrainSVC(t.Kernel, codes, classes, p, t.Progress)
		if err != nil || !s.Probability {
			return c, nil, err
		}
		calibration, err := svm.Calibrate(t.Kernel, codes, classes, p, s.Seed)
		return c, calibration, err
	})
}

// params returns the parameters of package svm for a training. The training stops when interrupt
// returns an error.
func (s SVC) params(interrupt func() error) svm.Params {
	s.Interrupt, s.CacheBytes = interrupt, s.bytes()
	return s.Params
}

// balancedWeights returns class weights that give every class the same total weight.
func balancedWeights(codes []int, classes []string) map[string]float64 {
	weights, count := make(map[string]float64, len(classes)), make([]int, len(classes))
	for _, c := range codes {
		count[c]++
	}
	for c, class := range classes {
		weights[class] = float64(len(codes)) / float64(len(classes)*count[c])
	}
	return weights
}

// Measure implements [Solver].
func (SVC) Measure(f *Fitted, m Metrics) error { return f.measureClasses(m) }

// fitJointly returns a tune.Learner that fits one value of C after another, faster than separately, because
// each fit starts from the solution for the previous value. It returns nil if not all solvers are SVC, for
// balanced weights, which differ between folds, and if all rows of a class have weight 0 or less.
func fitJointly(t Problem, methods []Solver, rows []int, interrupt func() error) tune.Learner {
	params := make([]svm.Params, len(methods))
	for i, m := range methods {
		svc, ok := m.(SVC)
		if !ok || svc.Balanced {
			return nil
		}
		params[i] = svc.params(interrupt)
	}
	classes, codes := dataset.ClassesIn(t.Order, linalg.At(t.Labels, rows))
	if known, _ := dataset.ClassesIn(t.Order, linalg.At(t.Labels, t.weighted(rows))); len(known) < len(classes) {
		return nil
	}
	svc := tune.SVC{Codes: make([]int, len(t.Labels)), Classes: classes, Params: params, RowWeights: t.Weights}
	for i, r := range rows {
		svc.Codes[r] = codes[i]
	}
	return svc
}
