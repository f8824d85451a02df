package learner

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// SVR is epsilon-support-vector regression.
type SVR struct{ svm.SVRParams }

// Ridge is kernel ridge regression on targets from which their mean is taken,
// and added again to predictions.
type Ridge struct {
	Alpha float64 // above 0, the price of |w|^2 against the squared errors
}

// GP is a Gaussian process on targets that are brought to mean 0 and variance 1
// (scikit-learn's normalize_y); predictions and deviations are in the unit of
// the targets again.
type GP struct {
	Noise float64 // above 0, the variance of a measurement where that of the targets is 1
}

func (s SVR) fit(t training) (*found, error) {
	y, err := numbers(t.labels)
	if err != nil {
		return nil, err
	}
	s.Interrupt = t.interrupt
	m, err := svm.TrainSVR(t.kernel, y, s.SVRParams)
	if err != nil {
		return nil, err
	}
	return machine(model.SVR, m), nil
}

// machine is what a single support vector machine has found.
func machine(kind model.Kind, m *svm.Machine) *found {
	return &found{head: single(kind, model.Dense(m.Coef, m.Rho)), support: m.Support, figures: Metrics{}}
}

// single is the head of a learner that has one function.
func single(kind model.Kind, f model.Function) model.Head {
	return model.Head{Reading: model.Reading{Kind: kind}, Functions: []model.Function{f}}
}

func (r Ridge) fit(t training) (*found, error) {
	y, err := numbers(t.labels)
	if err != nil {
		return nil, err
	}
	mean, _ := standardise(y)
	for i := range y {
		y[i] -= mean
	}
	m, err := ridge.FitUntil(t.kernel, y, r.Alpha, t.interrupt)
	if err != nil {
		return nil, err
	}
	return dense(single(model.Ridge, model.Dense(m.Dual, -mean)), t), nil
}

func (g GP) fit(t training) (*found, error) {
	if n := t.kernel.Len(); n > model.MaxProcess {
		return nil, fmt.Errorf("a Gaussian process takes %d training rows, these are %d; use ridge or fewer rows", model.MaxProcess, n)
	}
	y, err := numbers(t.labels)
	if err != nil {
		return nil, err
	}
	mean, unit := standardise(y)
	for i := range y {
		y[i] = (y[i] - mean) / unit
	}
	gp, err := ridge.FitGP(t.kernel, y, ridge.GPParams{Noise: g.Noise, Interrupt: t.interrupt})
	if err != nil {
		return nil, err
	}
	coef := make([]float64, len(gp.Dual))
	for i, v := range gp.Dual {
		coef[i] = v * unit
	}
	f := dense(single(model.GP, model.Dense(coef, -mean)), t)
	f.head.Noise, f.head.Unit = g.Noise, unit
	f.figures["log_marginal_likelihood"] = gp.LogMarginalLikelihood
	f.decide = func(cross linalg.Matrix[float64], prior []float64) linalg.Matrix[float64] {
		out := linalg.New[float64](cross.Rows, 2)
		means := f.head.Decisions(cross)
		for i, d := range gp.Deviations(cross, prior) {
			out.Row(i)[0], out.Row(i)[1] = means.Row(i)[0], d*unit
		}
		return out
	}
	return f, nil
}

// dense is what a learner has found that looks at every training row.
func dense(h model.Head, t training) *found {
	return &found{head: h, support: everyRow(t.kernel.Len()), figures: Metrics{}}
}

// numbers reads labels as targets.
func numbers(labels []string) ([]float64, error) {
	y, err := dataset.Targets(labels)
	if err != nil {
		return nil, ErrNumbers // err quotes the label
	}
	if len(y) == 0 {
		return nil, errors.New("no labelled rows to learn from")
	}
	return y, nil
}

// standardise returns mean and standard deviation of targets; 1 if they are
// constant.
func standardise(y []float64) (mean, deviation float64) {
	for _, v := range y {
		mean += v / float64(len(y))
	}
	for _, v := range y {
		deviation += (v - mean) * (v - mean) / float64(len(y))
	}
	if deviation = math.Sqrt(deviation); deviation > 0 {
		return mean, deviation
	}
	return mean, 1
}

func (SVR) measure(f *Fitted, m Metrics) error   { return f.measureNumbers(m) }
func (Ridge) measure(f *Fitted, m Metrics) error { return f.measureNumbers(m) }

// measureNumbers adds rmse and r2; the latter is left out where the truth is
// constant.
func (f *Fitted) measureNumbers(m Metrics) error {
	truth, err := numbers(f.Truth)
	if err != nil {
		return err
	}
	predicted := column(f.Decisions, 0)
	rmse, err := metrics.RMSE(truth, predicted)
	if err != nil {
		return err
	}
	m["rmse"] = rmse
	if r2, err := metrics.R2(truth, predicted); err == nil {
		m["r2"] = r2
	}
	return nil
}

// measure adds to these the mean of the deviations, and the share of held-out
// rows that lie within 1.96 of them: 0.95, if the process tells the truth about
// itself.
func (GP) measure(f *Fitted, m Metrics) error {
	if err := f.measureNumbers(m); err != nil {
		return err
	}
	truth, err := numbers(f.Truth)
	if err != nil {
		return err
	}
	within, sum := 0.0, 0.0
	for i, d := range column(f.Decisions, 1) {
		sum += d
		if math.Abs(truth[i]-f.Decisions.Row(i)[0]) <= 1.96*d {
			within++
		}
	}
	n := float64(len(truth))
	m["mean_deviation"], m["coverage_95"] = sum/n, within/n
	return nil
}

// column copies a column.
func column(m linalg.Matrix[float64], c int) []float64 {
	out := make([]float64, m.Rows)
	for i := range out {
		out[i] = m.Row(i)[c]
	}
	return out
}
