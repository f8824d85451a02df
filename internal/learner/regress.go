package learner

import (
	"errors"
	"math"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// machineSolution converts a single support vector machine to a solution.
func machineSolution(kind model.Kind, m *svm.Machine) *Solution {
	return &Solution{Head: singleHead(kind, model.Dense(m.Coef, m.Rho)), Support: m.Support, Figures: Metrics{}}
}

// singleHead returns the head of a learner that has one function.
func singleHead(kind model.Kind, f model.Function) model.Head {
	return model.Head{Output: model.Output{Kind: kind}, Functions: []model.Function{f}}
}

// denseSolution returns the solution of a learner that uses every training row.
func denseSolution(h model.Head, t Training) *Solution {
	return &Solution{Head: h, Support: dataset.Complement(t.Kernel.Len(), nil), Figures: Metrics{}}
}

// parseNumbers parses labels as numbers.
func parseNumbers(labels []string) ([]float64, error) {
	y, err := dataset.Targets(labels)
	if err != nil {
		return nil, ErrNumbers // err would quote the label
	}
	if len(y) == 0 {
		return nil, errors.New("no row has a label; a regression requires labelled rows")
	}
	return y, nil
}

// weightedMean returns the mean of targets, each counted as often as its weight says. Weights of 0 or
// less count as 0, and nil weights as 1 each.
func weightedMean(y, weights []float64) float64 {
	if weights == nil {
		mean, _ := standardise(y)
		return mean
	}
	total, mean := 0.0, 0.0
	for _, w := range weights {
		total += max(w, 0)
	}
	for i, w := range weights {
		mean += y[i] * (max(w, 0) / total)
	}
	return mean
}

// standardise returns the mean and the standard deviation of targets. For targets that are
// constant but for rounding the deviation is 1.
func standardise(y []float64) (mean, deviation float64) {
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for _, v := range y {
		deviation += (v - mean) * (v - mean) / float64(len(y))
	}
	if deviation = math.Sqrt(deviation); deviation > linalg.RoundingDeviation(len(y), mean) {
		return mean, deviation
	}
	return mean, 1
}

// measureNumbers adds rmse, mae and r2. It omits r2 if the truth is constant.
func (f *Fitted) measureNumbers(m Metrics) error {
	truth, err := parseNumbers(f.Truth)
	if err != nil {
		return err
	}
	predicted := f.Decisions.Column(0)
	rmse, err := metrics.RMSE(truth, predicted)
	if err != nil {
		return err
	}
	m["rmse"] = rmse
	if m["mae"], err = metrics.MAE(truth, predicted); err != nil {
		return err
	}
	if r2, err := metrics.R2(truth, predicted); err == nil {
		m["r2"] = r2
	}
	return nil
}
