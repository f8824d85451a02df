package learner

import (
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// Metrics are figures on held-out rows by the names of the job's result:
//
//	svc, nu-svc  accuracy, balanced_accuracy, f1_micro, f1_macro, auc; average_precision of two
//	             classes; brier of probabilities
//	svr, ridge   rmse, mae, r2
//	gp           these, mean_deviation, coverage_95, log_marginal_likelihood (of the training rows)
//	one-class    inside; accuracy and auc where labels are 1 and -1
//	kpca         explained_variance, explained_variance_training
//	cca          correlation, correlation_training (regularised)
//	kmeans       inertia, inertia_training; adjusted_rand where there are labels
type Metrics map[string]float64

// Measure computes the metrics; for rows held out in turn, the mean over the folds. It omits
// metrics without a value: an AUC if held-out rows lack a class, R2 of constant truth.
func (f *Fitted) Measure() (Metrics, error) {
	if f.folds == nil {
		return f.measure()
	}
	all := make([]Metrics, len(f.folds))
	for i, rows := range f.folds {
		var err error
		if all[i], err = f.part(rows).measure(); err != nil {
			return nil, err
		}
	}
	return Mean(all), nil
}

func (f *Fitted) measure() (Metrics, error) {
	if f.held == 0 {
		return nil, errors.New("learner: no row is held out; nothing can be measured")
	}
	m := maps.Clone(f.figures)
	if err := f.method.Measure(f, m); err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	for name, v := range m {
		if math.IsNaN(v) || math.IsInf(v, 0) { // which no result can hold
			return nil, fmt.Errorf("learner: %s is %v; scale the data", name, v)
		}
	}
	return m, nil
}

// Figures returns the figures found in training, without held-out rows; most learners have none.
func (f *Fitted) Figures() Metrics { return maps.Clone(f.figures) }

// Discrete reports whether predictions are classes, so that two learners can agree on them exactly.
func (f *Fitted) Discrete() bool { return f.Predicted != nil && !f.Head.Kind.Regresses() }

// Difference returns the largest absolute difference between two learners' decisions on the same
// held-out rows.
func Difference(a, b linalg.Matrix[float64]) (float64, error) {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return 0, fmt.Errorf("learner: decisions of %d x %d cannot be compared with %d x %d", a.Rows, a.Cols, b.Rows, b.Cols)
	}
	worst := 0.0
	for i := range a.Rows {
		x, y := a.Row(i), b.Row(i)
		for j := range x {
			worst = math.Max(worst, math.Abs(x[j]-y[j]))
		}
	}
	if math.IsNaN(worst) || math.IsInf(worst, 0) { // which no result can hold
		return 0, errors.New("learner: decisions that are not finite numbers cannot be compared")
	}
	return worst, nil
}
