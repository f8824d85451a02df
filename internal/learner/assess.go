package learner

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// Limits on the size of an assessment.
const (
	curvePoints    = 200 // most points of each curve
	curveClasses   = 20  // number of classes that get curves of their own
	matrixClasses  = 100
	binsOfCurve    = 10
	residualBins   = 20
	intervalEffort = 1 << 17 // greatest product of held-out rows and classes for which a bootstrap is computed
)

// Assessment evaluates predictions on held-out rows in more detail than the metrics. A part without
// a value is nil.
type Assessment struct {
	Classes []ClassCount `json:"classes,omitempty"`
	// Positive is the class to which curves, calibration and net benefit refer, if there are two
	// classes.
	Positive    string                 `json:"positive,omitempty"`
	Confusion   *Confusion             `json:"confusion,omitempty"`
	PerClass    []metrics.ClassFigures `json:"per_class,omitempty"`
	Curves      []ClassCurves          `json:"curves,omitempty"`
	Calibration *Calibration           `json:"calibration,omitempty"`
	Benefit     []Benefit              `json:"decision_curve,omitempty"`
	Residuals   *metrics.Residuals     `json:"residuals,omitempty"`
	Bins        []ResidualBin          `json:"residual_bins,omitempty"`
	// Intervals holds 95 % intervals by the name of the metric.
	Intervals map[string]*metrics.Interval `json:"intervals,omitempty"`
	// ClassIntervals holds the intervals of the figures in PerClass, in the same order.
	ClassIntervals []ClassIntervals `json:"class_intervals,omitempty"`
	// ByParty holds figures over each party's own held-out rows. It is nil if the process does not
	// know the parties of the rows, or if fewer than two parties have held-out rows.
	ByParty []PartyFigures `json:"by_party,omitempty"`
}

// ClassCount counts the rows of a class.
type ClassCount struct {
	Class    string `json:"class"`
	Training int    `json:"training_rows"`
	HeldOut  int    `json:"held_out_rows"`
}

// Untrained returns the classes that have held-out rows and no training rows; none if the learner
// was trained without labels.
func (a *Assessment) Untrained() (classes []string) {
	training := 0
	for _, c := range a.Classes {
		training += c.Training
		if c.Training == 0 && c.HeldOut > 0 {
			classes = append(classes, c.Class)
		}
	}
	if training == 0 {
		return nil
	}
	return classes
}

// Confusion is a confusion matrix. Matrix[i][j] is the number of rows of class i that were
// predicted as class j.
type Confusion struct {
	Classes []string `json:"classes"`
	Matrix  [][]int  `json:"matrix"`
}

// ClassCurves holds the curves of one class against all others, and the areas under them. It omits
// thresholds, because a threshold is the score of a single row.
type ClassCurves struct {
	Class string  `json:"class"`
	AUC   float64 `json:"roc_auc"`
	// The field Within is the largest possible error of AUC. It is 0 if AUC is exact, and above 0
	// if scores were counted in bins.
	Within    float64   `json:"roc_auc_within,omitempty"`
	AP        float64   `json:"average_precision"`
	FPR       []float64 `json:"false_positive_rate"`
	TPR       []float64 `json:"true_positive_rate"`
	Recall    []float64 `json:"recall"`
	Precision []float64 `json:"precision"`
}

// Calibration holds the calibration curves of the positive class, in ten bins at most.
type Calibration struct {
	Quantile []CalibrationBin `json:"quantile"` // bins with about equal numbers of rows
	Uniform  []CalibrationBin `json:"uniform"`  // bins of equal width
}

// CalibrationBin summarises rows with similar predicted probabilities.
type CalibrationBin struct {
	Rows      int     `json:"rows"`
	Predicted float64 `json:"predicted"` // mean predicted probability
	True      float64 `json:"true"`      // share of the rows that belong to the class
}

// Benefit is a point of the decision curve.
type Benefit struct {
	Threshold float64 `json:"threshold"`
	Model     float64 `json:"model"`
	All       float64 `json:"treat_all"`
}

// ResidualBin summarises held-out rows with similar predictions.
type ResidualBin struct {
	Rows      int     `json:"rows"`
	Predicted float64 `json:"predicted"` // mean prediction
	Mean      float64 `json:"mean"`      // mean of the residuals, truth minus prediction
	Deviation float64 `json:"deviation"`
}

// Assess evaluates the predictions on the held-out rows. training holds the labels of the training
// rows, and seed draws the samples of the intervals. Assess returns nil if no row is held out, or if the
// predictions cannot be compared with labels.
func (f *Fitted) Assess(training []string, seed uint64) (*Assessment, error) {
	var a *Assessment
	var err error
	switch {
	case f.held == 0 || len(f.Truth) == 0 || len(f.Predicted) != len(f.Truth):
		return nil, nil
	case f.Head.Kind.Regresses():
		a, err = f.assessNumbers(seed)
	case f.Head.Kind.Classifies():
		a, err = f.assessClasses(f.Head.Classes, training, seed)
	case f.Head.Kind.OutputShape() == model.Side && oneOf(f.Truth, model.Inside, model.Outside):
		a, err = f.assessClasses([]string{model.Outside, model.Inside}, nil, seed)
	}
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	return a, nil
}

// oneOf reports whether every label is a or b.
func oneOf(labels []string, a, b string) bool {
	return !slices.ContainsFunc(labels, func(l string) bool { return l != a && l != b })
}

// ratedRows holds the held-out rows with their classes and scores, for classifiers.
type ratedRows struct {
	classes          []string // names of all classes, in the job's order, or in the order of package dataset
	truth, predicted []int
	scores           linalg.Matrix[float64] // rows x classes; empty if there are no scores
	probabilities    bool                   // whether the scores are probabilities
	untrained        bool                   // whether the rows have a class that the classifier does not know
}

// rateRows collects the held-out rows with their classes and scores. Classes that the classifier
// does not know get the lowest scores.
func (f *Fitted) rateRows(known []string) *ratedRows {
	n := len(f.Truth)
	classes, codes := dataset.ClassesIn(f.order, slices.Concat(f.Truth, f.Predicted, known))
	r := &ratedRows{classes: classes, truth: codes[:n], predicted: codes[n : 2*n], untrained: len(classes) != len(known)}
	if f.Decisions.Rows != n || f.Decisions.Cols == 0 {
		return r
	}
	if f.Head.Kind.OutputShape() == model.Side {
		r.scores = linalg.New[float64](n, 2)
		for i := range n {
			d := f.Decisions.Row(i)[0]
			copy(r.scores.Row(i), []float64{-d, d})
		}
		return r
	}
	r.probabilities = f.Head.Probabilities(f.Decisions).Cols == len(classes)
	if scores, err := f.scores(len(classes), codes[2*n:]); err == nil {
		r.scores = scores
	}
	return r
}

func (f *Fitted) assessClasses(known, training []string, seed uint64) (*Assessment, error) {
	r := f.rateRows(known)
	confusion, err := metrics.NewConfusionMatrix(f.Truth, f.Predicted)
	if err != nil {
		return nil, err
	}
	if f.order != nil {
		confusion = confusion.In(r.classes)
	}
	a := &Assessment{Classes: countClasses(r.classes, training, f.Truth)}
	if len(confusion.Classes) <= matrixClasses {
		a.Confusion, a.PerClass = &Confusion{confusion.Classes, confusion.Counts}, confusion.PerClass()
	}
	if r.scores.Rows > 0 {
		r.addCurves(a)
	}
	if f.folds == nil {
		err = r.addIntervals(a, confusion, seed)
	}
	return a, err
}

// CountClasses counts the training rows and the held-out rows of each of the first 100 classes.
func CountClasses(training, heldOut []string) []ClassCount {
	classes, _ := dataset.Classes(slices.Concat(training, heldOut))
	return countClasses(classes, training, heldOut)
}

func countClasses(classes, training, heldOut []string) []ClassCount {
	count := func(labels []string) map[string]int {
		of := make(map[string]int)
		for _, l := range labels {
			of[l]++
		}
		return of
	}
	in, out := count(training), count(heldOut)
	var list []ClassCount
	for _, c := range classes[:min(len(classes), matrixClasses)] {
		list = append(list, ClassCount{c, in[c], out[c]})
	}
	return list
}

// addCurves adds the curves of each class, for two classes only those of the second class. It adds none if there are
// more than curveClasses classes.
func (r *ratedRows) addCurves(a *Assessment) {
	first := 0
	if len(r.classes) == 2 {
		first, a.Positive = 1, r.classes[1]
	}
	if len(r.classes) > curveClasses {
		return
	}
	for c := first; c < len(r.classes); c++ {
		ranked, err := metrics.Rank(ofClass(r.truth, c), r.scores.Column(c))
		if err != nil {
			continue // a curve needs held-out rows both inside and outside the class
		}
		roc, pr := ranked.ROC().Thin(curvePoints), ranked.PrecisionRecall().Thin(curvePoints)
		one := ClassCurves{Class: r.classes[c], FPR: roc.X, TPR: roc.Y, Recall: pr.X, Precision: pr.Y}
		one.AUC, _ = ranked.AUC(nil)
		one.AP, _ = ranked.AveragePrecision(nil)
		a.Curves = append(a.Curves, one)
	}
	if r.probabilities && len(r.classes) == 2 {
		r.addCalibration(a)
	}
}

// addCalibration adds the calibration curve and the decision curve of the second class.
func (r *ratedRows) addCalibration(a *Assessment) {
	positive, p := ofClass(r.truth, 1), r.scores.Column(1)
	quantile, err1 := metrics.CalibrationQuantile(positive, p, binsOfCurve)
	uniform, err2 := metrics.CalibrationUniform(positive, p, binsOfCurve)
	var thresholds []float64
	for i := 1; i < 100; i++ {
		thresholds = append(thresholds, float64(i)/100)
	}
	benefit, err3 := metrics.DecisionCurve(positive, p, thresholds)
	if err1 != nil || err2 != nil || err3 != nil {
		return // the scores are not probabilities
	}
	a.Calibration = &Calibration{binsAs(quantile), binsAs(uniform)}
	for _, b := range benefit {
		a.Benefit = append(a.Benefit, Benefit(b))
	}
}

func binsAs(list []metrics.Bin) []CalibrationBin {
	out := make([]CalibrationBin, len(list))
	for i, b := range list {
		out[i] = CalibrationBin(b)
	}
	return out
}

// assessNumbers evaluates the predictions of a regression by their residuals.
func (f *Fitted) assessNumbers(seed uint64) (*Assessment, error) {
	truth, err := parseNumbers(f.Truth)
	if err != nil {
		return nil, err
	}
	predicted := f.Decisions.Column(0)
	a := &Assessment{Bins: residualBinsOf(truth, predicted)}
	if a.Residuals, err = metrics.NewResiduals(truth, predicted); err != nil {
		return nil, err
	}
	if f.folds == nil {
		err = addNumberIntervals(a, truth, predicted, seed)
	}
	return a, err
}

// residualBinsOf divides rows, sorted by their predictions, into bins with about equal numbers of rows.
func residualBinsOf(truth, predicted []float64) []ResidualBin {
	order := make([]int, len(truth))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(predicted[a], predicted[b]) })
	bins := min(residualBins, max(1, len(order)/10))
	out := make([]ResidualBin, bins)
	for k := range out {
		rows := order[k*len(order)/bins : (k+1)*len(order)/bins]
		b, n := ResidualBin{Rows: len(rows)}, float64(len(rows))
		for _, i := range rows {
			b.Predicted, b.Mean = b.Predicted+predicted[i]/n, b.Mean+(truth[i]-predicted[i])/n
		}
		for _, i := range rows {
			e := truth[i] - predicted[i] - b.Mean
			b.Deviation += e * e / n
		}
		b.Deviation = math.Sqrt(b.Deviation)
		out[k] = b
	}
	return out
}
