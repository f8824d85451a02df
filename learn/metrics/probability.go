package metrics

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// Brier returns the mean squared error of predicted class probabilities, like scikit-learn's
// brier_score_loss. The matrix probabilities is rows x classes. For two classes it is the error of
// the second class's probability, between 0 and 1. For more classes it is the sum over the classes,
// between 0 and 2.
func Brier(truth []int, probabilities linalg.Matrix[float64]) (float64, error) {
	if err := sameRows(len(truth), probabilities.Rows); err != nil {
		return 0, err
	}
	sum := 0.0
	for i, class := range truth {
		row := probabilities.Row(i)
		if class < 0 || class >= len(row) {
			return 0, fmt.Errorf("metrics: row %d is of class %d, but there are probabilities of %d classes", i, class, len(row))
		}
		for c, p := range row {
			if err := checkProbability(i, p); err != nil {
				return 0, err
			}
			sum += squaredError(p, c == class)
		}
	}
	if probabilities.Cols == 2 { // both classes have the same error, which counts once
		sum /= 2
	}
	return sum / float64(len(truth)), nil
}

func squaredError(p float64, is bool) float64 {
	if is {
		return (1 - p) * (1 - p)
	}
	return p * p
}

func checkProbability(row int, p float64) error {
	if !(p >= 0 && p <= 1) {
		return fmt.Errorf("metrics: the probability of row %d is %v; it must be between 0 and 1", row, p)
	}
	return nil
}

// Bin describes the rows with similar probabilities. It holds their number, their mean predicted
// probability, and the share of positive rows.
type Bin struct {
	Rows            int
	Predicted, True float64
}

// CalibrationUniform returns the bins of a calibration curve, all equally wide. It follows
// scikit-learn's calibration_curve with strategy "uniform". Empty bins are omitted.
func CalibrationUniform(positive []bool, probabilities []float64, bins int) ([]Bin, error) {
	inner := make([]float64, max(0, bins-1))
	for i := range inner {
		inner[i] = float64(i+1) * (1 / float64(bins)) // computed as numpy.linspace does
	}
	return calibrate(positive, probabilities, bins, inner)
}

// CalibrationQuantile returns the bins of a calibration curve with equally many rows in each bin,
// up to ties. It follows scikit-learn's calibration_curve with strategy "quantile".
func CalibrationQuantile(positive []bool, probabilities []float64, bins int) ([]Bin, error) {
	sorted := slices.Sorted(slices.Values(probabilities))
	inner := make([]float64, max(0, bins-1))
	for i := range inner {
		if len(sorted) > 0 {
			inner[i] = Quantile(sorted, float64(i+1)*(1/float64(bins)))
		}
	}
	return calibrate(positive, probabilities, bins, inner)
}

// calibrate puts each row into a bin by its probability. It chooses the bin below the first border
// that is not lower than the probability.
func calibrate(positive []bool, probabilities []float64, bins int, inner []float64) ([]Bin, error) {
	if err := sameRows(len(positive), len(probabilities)); err != nil {
		return nil, err
	}
	if bins < 1 {
		return nil, fmt.Errorf("metrics: the calibration curve has %d bins; use at least one", bins)
	}
	all := make([]Bin, bins)
	for i, p := range probabilities {
		if err := checkProbability(i, p); err != nil {
			return nil, err
		}
		at, _ := slices.BinarySearch(inner, p)
		all[at].Rows++
		all[at].Predicted += p
		if positive[i] {
			all[at].True++
		}
	}
	return means(all), nil
}

// means divides the sums in each bin by the bin's number of rows.
func means(sums []Bin) []Bin {
	var out []Bin
	for _, b := range sums {
		if n := float64(b.Rows); n > 0 {
			out = append(out, Bin{b.Rows, b.Predicted / n, b.True / n})
		}
	}
	return out
}

// NetBenefit holds the net benefits of the model and of treating all rows at one threshold.
type NetBenefit struct{ Threshold, Model, All float64 }

// DecisionCurve returns the net benefit of two policies at each threshold. One policy treats the
// rows whose probability reaches the threshold, the other treats all rows. Treating no row has the
// net benefit 0. Net benefit is TP/n - FP/n t/(1-t) (A. Vickers, E. Elkin, Decision curve analysis,
// Medical Decision Making 26, 2006). Thresholds must be above 0 and below 1.
func DecisionCurve(positive []bool, probabilities, thresholds []float64) ([]NetBenefit, error) {
	if err := sameRows(len(positive), len(probabilities)); err != nil {
		return nil, err
	}
	for i, p := range probabilities {
		if err := checkProbability(i, p); err != nil {
			return nil, err
		}
	}
	out := make([]NetBenefit, len(thresholds))
	for k, t := range thresholds {
		if !(t > 0 && t < 1) {
			return nil, fmt.Errorf("metrics: a threshold of the decision curve is %v; it must be above 0 and below 1", t)
		}
		benefit := func(lowest float64) float64 {
			right, wrong := countReached(positive, probabilities, lowest)
			return (float64(right) - float64(wrong)*t/(1-t)) / float64(len(positive))
		}
		out[k] = NetBenefit{t, benefit(t), benefit(0)}
	}
	return out, nil
}

// countReached returns the numbers of positive and of negative rows whose probability is at least
// the threshold.
func countReached(positive []bool, probabilities []float64, threshold float64) (right, wrong int) {
	for i, p := range probabilities {
		switch {
		case p < threshold:
		case positive[i]:
			right++
		default:
			wrong++
		}
	}
	return right, wrong
}

// Contradictions counts the predictions of a class that is less probable than another class. The
// function row returns the class probabilities of prediction i, in the order of classes. A prediction
// that is not in classes is not counted.
func Contradictions(classes, predicted []string, row func(i int) []float64) int {
	n := 0
	for i, class := range predicted {
		p := row(i)
		if k := slices.Index(classes, class); k >= 0 && k < len(p) && p[k] < slices.Max(p) {
			n++
		}
	}
	return n
}
