package evaluate

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
)

// Metrics are figures on held-out rows by the names of the job's result:
// accuracy, f1_micro, f1_macro, auc.
type Metrics map[string]float64

// Measure computes the metrics of a classifier. The AUC is left out when the
// held-out rows do not have all classes.
func (f *Fitted) Measure() (Metrics, error) {
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

// auc is the area under the ROC curve: of the first class against the second,
// or averaged over the pairs of classes by the votes.
func (f *Fitted) auc() (float64, bool) {
	classes := f.Classifier.Classes
	truth := make([]int, len(f.Truth))
	seen := make([]bool, len(classes))
	for i, label := range f.Truth {
		c := slices.Index(classes, label)
		if c < 0 {
			return 0, false
		}
		truth[i], seen[c] = c, true
	}
	if slices.Contains(seen, false) {
		return 0, false
	}
	auc, err := f.area(truth, len(classes))
	return auc, err == nil
}

func (f *Fitted) area(truth []int, classes int) (float64, error) {
	if classes > 2 {
		scores, err := metrics.VoteScores(f.Decisions, classes)
		if err != nil {
			return 0, err
		}
		return metrics.AUCOvO(truth, scores)
	}
	first := make([]bool, len(truth))
	scores := make([]float64, len(truth))
	for i, c := range truth {
		first[i], scores[i] = c == 0, f.Decisions.Row(i)[0]
	}
	return metrics.ROCAUC(first, scores)
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
	return worst, nil
}
