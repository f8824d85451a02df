package evaluate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
)

// Metrics are figures on held-out rows by the names of the job's result:
// accuracy, f1_micro, f1_macro, auc.
type Metrics map[string]float64

// Measure computes the metrics of a classifier; of rows that were held out in
// turn, the mean over the folds. The AUC is left out where held-out rows lack a
// class.
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
	if len(f.Truth) == 0 {
		return nil, errors.New("evaluate: no row is held out; nothing can be measured")
	}
	confusion, err := metrics.NewConfusionMatrix(f.Truth, f.Predicted)
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	m := Metrics{"accuracy": confusion.Accuracy(), "f1_micro": confusion.F1Micro(), "f1_macro": confusion.F1Macro()}
	if auc, ok := f.auc(); ok {
		m["auc"] = auc
	}
	return m, nil
}

// auc is the area under the ROC curve, averaged over the pairs of classes. A
// class that the classifier has never seen scores below all others: a party
// alone may lack it. Without a held-out row of every class there is none.
func (f *Fitted) auc() (float64, bool) {
	classes, codes := dataset.Classes(slices.Concat(f.Truth, f.Classifier.Classes))
	scores, err := f.scores(len(classes), codes[len(f.Truth):])
	if err != nil {
		return 0, false
	}
	auc, err := metrics.AUCOvO(codes[:len(f.Truth)], scores)
	return auc, err == nil
}

// scores gives each held-out row one number for each of n classes; known holds
// the columns of the classes that the classifier knows.
func (f *Fitted) scores(n int, known []int) (linalg.Matrix[float64], error) {
	own, err := f.ownScores()
	if err != nil {
		return own, err
	}
	all := linalg.New[float64](len(f.Truth), n)
	for i := range all.Rows {
		row := all.Row(i)
		for c := range row {
			row[c] = math.Inf(-1)
		}
		for k, c := range known {
			row[c] = own.Row(i)[k]
		}
	}
	return all, nil
}

// ownScores gives each held-out row one number for each class that the
// classifier knows.
func (f *Fitted) ownScores() (linalg.Matrix[float64], error) {
	n := len(f.Classifier.Classes)
	if n > 2 {
		return metrics.VoteScores(f.Decisions, n)
	}
	scores := linalg.New[float64](len(f.Truth), n)
	for i := range f.Decisions.Rows {
		d := f.Decisions.Row(i)[0]
		copy(scores.Row(i), []float64{d, -d}) // positive decides for the first class
	}
	return scores, nil
}

// Difference is the largest |difference| between two classifiers' decisions on
// the same held-out rows.
func Difference(a, b linalg.Matrix[float64]) (float64, error) {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return 0, fmt.Errorf("evaluate: decisions of %d x %d cannot be compared with %d x %d", a.Rows, a.Cols, b.Rows, b.Cols)
	}
	worst := 0.0
	for i := range a.Rows {
		x, y := a.Row(i), b.Row(i)
		for j := range x {
			worst = math.Max(worst, math.Abs(x[j]-y[j]))
		}
	}
	if math.IsNaN(worst) || math.IsInf(worst, 0) { // which no result can hold
		return 0, errors.New("evaluate: decisions that are not finite numbers cannot be compared")
	}
	return worst, nil
}
