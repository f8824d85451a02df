package learner

import (
	"errors"
	"fmt"
	"maps"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// Metrics maps the names of metrics to their values on held-out rows. The names are those of the
// job's result. Learners on a kernel have these:
//
//	svc, nu-svc  accuracy, balanced_accuracy, f1_micro, f1_macro, auc; average_precision of two
//	             classes; brier of probabilities
//	svr, ridge   rmse, mae, r2
//	gp           rmse, mae, r2, mean_deviation, coverage_95, log_marginal_likelihood (of the training rows)
//	one-class    inside; accuracy where all labels are 1 or -1, and auc where both occur
//	kpca         explained_variance, explained_variance_training
//	cca          correlation, correlation_training (regularised)
//	kmeans       inertia, inertia_training; adjusted_rand where there are labels
type Metrics map[string]float64

// Measure computes the metrics on the held-out rows; in a cross-validation, their means over the
// folds. It omits metrics without a value, such as AUC if held-out rows lack a class, and R2 if the
// truth is constant.
func (f *Fitted) Measure() (Metrics, error) {
	if f.folds == nil {
		return f.measure()
	}
	all := make([]Metrics, len(f.folds))
	for i, rows := range f.folds {
		var err error
		if all[i], err = f.restricted(rows).measure(); err != nil {
			return nil, err
		}
	}
	return Mean(all), nil
}

func (f *Fitted) measure() (Metrics, error) {
	if f.held == 0 {
		return nil, errors.New("learner: metrics require held-out rows, but no row is held out")
	}
	m := maps.Clone(f.figures)
	if err := f.method.Measure(f, m); err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	for name, v := range m {
		if math.IsNaN(v) || math.IsInf(v, 0) { // JSON cannot represent these values
			return nil, fmt.Errorf("learner: metric %s is %v; scale the data", name, v)
		}
	}
	return m, nil
}

// Figures returns the metrics of the training itself. Most learners have none.
func (f *Fitted) Figures() Metrics { return maps.Clone(f.figures) }

// Discrete reports whether the predictions are classes, sides or clusters, so that two learners can agree exactly.
func (f *Fitted) Discrete() bool { return f.Predicted != nil && !f.Head.Kind.Regresses() }

// Difference returns the largest absolute difference between two learners' decisions on the same
// held-out rows.
func Difference(a, b linalg.Matrix[float64]) (float64, error) {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return 0, fmt.Errorf("learner: decisions of %d x %d and %d x %d cannot be compared; both matrices must have the same size", a.Rows, a.Cols, b.Rows, b.Cols)
	}
	worst := 0.0
	for i := range a.Rows {
		x, y := a.Row(i), b.Row(i)
		for j := range x {
			worst = math.Max(worst, math.Abs(x[j]-y[j]))
		}
	}
	if math.IsNaN(worst) || math.IsInf(worst, 0) { // JSON cannot represent these values
		return 0, errors.New("learner: a decision is not a finite number, so decisions cannot be compared")
	}
	return worst, nil
}
