package learner

import (
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/model"
)

// OneClass is a one-class support vector machine, which estimates the region of most rows. Like
// LIBSVM it learns from all training rows and ignores their labels.
type OneClass struct {
	svm.NuParams
	Cache
}

var (
	_ KernelLearner = (*OneClass)(nil)
	_ Rowwise       = (*OneClass)(nil)
	_ RowWeighted   = (*OneClass)(nil)
	_ job.Learner   = (*OneClass)(nil)
)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (OneClass) Name() string        { return "one-class" }
func (OneClass) New() section.Values { return new(OneClass) }
func (OneClass) Task() job.Task      { return job.Task{} }

// Section declares the keys of the job file.
func (o *OneClass) Section() *section.Section {
	return &section.Section{
		Doc:    "A one-class support vector machine: it finds the region where rows lie.",
		Fields: []section.Field{nuKey(&o.Nu), tolKey(&o.Tol), o.key()},
		Finish: func(in *section.Place) error { return errors.Join(finishNu(in, o.NuParams), o.Cache.finish(in)) },
	}
}

// WeighsRows implements [RowWeighted].
func (OneClass) WeighsRows() {}

// Solver implements [KernelLearner].
func (o *OneClass) Solver(uint64) Solver { return *o }

// Fit implements [Solver].
func (o OneClass) Fit(t Training) (*Solution, error) {
	o.Interrupt, o.CacheBytes = t.Interrupt, o.bytes()
	o.RowWeights = t.Weights
	m, err := svm.TrainOneClass(t.Kernel, o.NuParams)
	if err != nil {
		return nil, err
	}
	return machineSolution(model.OneClass, m), nil
}

// Measure adds the share of held-out rows inside the region. If all labels are 1 or -1, it also
// adds the accuracy, and the AUC if both labels occur.
func (OneClass) Measure(f *Fitted, m Metrics) error {
	inside := 0
	for _, p := range f.Predicted {
		if p == model.Inside {
			inside++
		}
	}
	m["inside"] = float64(inside) / float64(f.held)
	if f.Truth == nil || slices.ContainsFunc(f.Truth, func(s string) bool { return s != model.Inside && s != model.Outside }) {
		return nil
	}
	positive := make([]bool, f.held)
	for i, label := range f.Truth {
		positive[i] = label == model.Inside
	}
	if auc, err := metrics.ROCAUC(positive, f.Decisions.Column(0)); err == nil {
		m["auc"] = auc
	}
	var err error
	m["accuracy"], err = metrics.Accuracy(f.Truth, f.Predicted)
	return err
}
