package learner

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/job/section"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// GP is a Gaussian process. It scales targets to mean 0 and variance 1, like scikit-learn's
// normalize_y; predictions and deviations have the unit of the targets.
type GP struct {
	Noise float64 // variance of the noise for targets of variance 1; above 0
}

var (
	_ KernelLearner = (*GP)(nil)
	_ SumsLearner   = (*GP)(nil)
	_ job.Learner   = (*GP)(nil)
	_ leaveOneOuter = GP{}
)

// Name and New implement [job.Kind]; with Task they implement [job.Learner].
func (GP) Name() string        { return "gp" }
func (GP) New() section.Values { return new(GP) }
func (GP) Task() job.Task      { return job.Numbers() }

// Section declares the keys of the job file.
func (g *GP) Section() *section.Section {
	return &section.Section{Doc: "A Gaussian process: it predicts numbers, each with a deviation.", Fields: []section.Field{
		{Key: "noise", Value: section.Number{Dst: &g.Noise}, List: true, Default: "0.1",
			Doc: "The noise variance, above 0, as a multiple of the variance of the labels."},
	}, Finish: func(in *section.Place) error { return in.Positive("noise", g.Noise) }}
}

// Solver implements [KernelLearner].
func (g *GP) Solver(uint64) Solver { return *g }

// Sums implements [SumsLearner].
func (g *GP) Sums() Objective { return Objective{Penalty: g.Noise, Process: true} }

// Fit implements [Solver].
func (g GP) Fit(t Training) (*Solution, error) {
	if err := checkProcess(t.Kernel.Len()); err != nil {
		return nil, err
	}
	y, err := parseNumbers(t.Labels)
	if err != nil {
		return nil, err
	}
	mean, unit := standardise(y)
	for i := range y {
		y[i] = (y[i] - mean) / unit
	}
	gp, err := ridge.FitGP(t.Kernel, y, ridge.GPParams{Noise: g.Noise, Interrupt: t.Interrupt})
	if err != nil {
		return nil, err
	}
	coef := make([]float64, len(gp.Dual))
	for i, v := range gp.Dual {
		coef[i] = v * unit
	}
	f := denseSolution(singleHead(model.GP, model.Dense(coef, -mean)), t)
	f.Head.Noise, f.Head.Unit, f.Inverted = g.Noise, unit, Inverted{gp.Condition, "noise"}
	f.Figures["log_marginal_likelihood"] = gp.LogMarginalLikelihood
	f.Decide = func(cross linalg.Matrix[float64], prior []float64) linalg.Matrix[float64] {
		out := linalg.New[float64](cross.Rows, 2)
		means := f.Head.Decisions(cross)
		for i, d := range gp.Deviations(cross, prior) {
			out.Row(i)[0], out.Row(i)[1] = means.Row(i)[0], d*unit
		}
		return out
	}
	return f, nil
}

// LeaveOneOut implements leaveOneOuter. The process without row i scales the other targets to mean 0
// and variance 1. The scale does not change the predicted mean, which is that of [Ridge.LeaveOneOut]. It
// multiplies the predicted deviation, which is the root of 1 / G_ii with the matrix G of that method.
func (g GP) LeaveOneOut(t Training) (model.Kind, linalg.Matrix[float64], error) {
	if err := checkProcess(t.Kernel.Len()); err != nil {
		return model.GP, linalg.Matrix[float64]{}, err
	}
	predicted, deviations, err := leftOutMeans(t, g.Noise)
	if err != nil {
		return model.GP, linalg.Matrix[float64]{}, err
	}
	y, err := parseNumbers(t.Labels)
	if err != nil {
		return model.GP, linalg.Matrix[float64]{}, err
	}
	out := linalg.New[float64](len(y), 2)
	linalg.For(len(y), 16, func(lo, hi int) {
		others := make([]float64, len(y)-1)
		for i := lo; i < hi; i++ {
			copy(others, y[:i])
			copy(others[i:], y[i+1:])
			_, unit := standardise(others)
			out.Row(i)[0], out.Row(i)[1] = predicted[i], unit*deviations[i]
		}
	})
	return model.GP, out, nil
}

// checkProcess refuses more rows than a Gaussian process can learn from.
func checkProcess(rows int) error {
	if rows > model.MaxProcess {
		return fmt.Errorf("a Gaussian process can learn from at most %d training rows, but there are %d; use ridge or fewer rows", model.MaxProcess, rows)
	}
	return nil
}

// Measure adds the metrics of a regression, the mean deviation, and the share of held-out rows
// within 1.96 deviations. This share is about 0.95 for a well-calibrated process.
func (GP) Measure(f *Fitted, m Metrics) error {
	if err := f.measureNumbers(m); err != nil {
		return err
	}
	truth, err := parseNumbers(f.Truth)
	if err != nil {
		return err
	}
	within, sum := 0.0, 0.0
	for i, d := range f.Decisions.Column(1) {
		sum += d
		if math.Abs(truth[i]-f.Decisions.Row(i)[0]) <= 1.96*d {
			within++
		}
	}
	n := float64(len(truth))
	m["mean_deviation"], m["coverage_95"] = sum/n, within/n
	return nil
}
