package learner

import (
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// classify trains a classifier with the labels converted to class codes.
func (t Training) classify(kind model.Kind, train func(codes []int, classes []string) (*svm.Classifier, *svm.Calibration, error)) (*Solution, error) {
	classes, codes := dataset.ClassesIn(t.Order, t.Labels)
	if len(classes) < 2 {
		return nil, ErrOneClass
	}
	c, calibration, err := train(codes, classes)
	if err != nil {
		return nil, err
	}
	return &Solution{Head: model.Voters(kind, c.Compact(), calibration), Support: c.Support(), Figures: Metrics{}}, nil
}

// measureClasses adds accuracy, balanced_accuracy, f1_micro, f1_macro and auc. It adds average_precision
// if there are two classes, and brier if the scores are probabilities. It omits figures for which the
// held-out rows lack a class.
func (f *Fitted) measureClasses(m Metrics) error {
	confusion, err := metrics.NewConfusionMatrix(f.Truth, f.Predicted)
	if err != nil {
		return err
	}
	m["accuracy"], m["f1_micro"], m["f1_macro"] = confusion.Accuracy(), confusion.F1Micro(), confusion.F1Macro()
	m["balanced_accuracy"] = confusion.BalancedAccuracy()
	f.measureScores(m)
	return nil
}

// measureScores adds auc, average_precision and brier. It adds none of them if the held-out rows
// have a class without training rows: the classifier has no score for that class.
func (f *Fitted) measureScores(m Metrics) {
	classes, codes := dataset.ClassesIn(f.order, slices.Concat(f.Truth, f.Head.Classes))
	if len(classes) != len(f.Head.Classes) {
		return
	}
	if auc, ok := f.auc(codes[:len(f.Truth)]); ok {
		m["auc"] = auc
	}
	codes = codes[:len(f.Truth)]
	if p := f.Head.Probabilities(f.Decisions); p.Cols == len(classes) {
		if v, err := metrics.Brier(codes, p); err == nil {
			m["brier"] = v
		}
	}
	if len(classes) != 2 {
		return
	}
	if ranked, err := f.ranked(codes, 1); err == nil {
		m["average_precision"], _ = ranked.AveragePrecision(nil)
	}
}

// ranked sorts the held-out rows by their scores for one class that the classifier knows.
func (f *Fitted) ranked(codes []int, class int) (*metrics.Ranked, error) {
	scores, err := f.ownScores()
	if err != nil {
		return nil, err
	}
	return metrics.Rank(ofClass(codes, class), scores.Column(class))
}

// ofClass returns a flag for each row: whether it belongs to the class.
func ofClass(codes []int, class int) []bool {
	is := make([]bool, len(codes))
	for i, c := range codes {
		is[i] = c == class
	}
	return is
}

// auc returns the area under the ROC curve, averaged over all pairs of classes. codes holds the
// classes of the held-out rows, all of which the classifier knows. It returns false if a class has
// no held-out row.
func (f *Fitted) auc(codes []int) (float64, bool) {
	scores, err := f.ownScores()
	if err != nil {
		return 0, false
	}
	auc, err := metrics.AUCOvO(codes, scores)
	return auc, err == nil
}

// scores returns one score for each held-out row and each of n classes. The list classes holds the
// indices of the classes that the classifier knows.
func (f *Fitted) scores(n int, classes []int) (linalg.Matrix[float64], error) {
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
		for k, c := range classes {
			row[c] = own.Row(i)[k]
		}
	}
	return all, nil
}

// ownScores returns one score for each held-out row and each class that the classifier knows. A
// score is a probability if the classifier is calibrated.
func (f *Fitted) ownScores() (linalg.Matrix[float64], error) {
	n := len(f.Head.Classes)
	if p := f.Head.Probabilities(f.Decisions); p.Cols > 0 {
		return p, nil
	}
	pairs := f.Head.Kind.OutputShape() == model.Pairs
	switch {
	case pairs && n > 2:
		return metrics.VoteScores(f.Decisions, n)
	case f.Decisions.Cols == n:
		return f.Decisions, nil
	}
	scores, first := linalg.New[float64](len(f.Truth), n), -1.
	if pairs { // a positive decision favours the first class of a pair
		first = 1
	}
	for i := range f.Decisions.Rows {
		d := first * f.Decisions.Row(i)[0]
		copy(scores.Row(i), []float64{d, -d})
	}
	return scores, nil
}
