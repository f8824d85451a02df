package moments

import (
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// numberRidge is the objective of a ridge regression on numbers in a known range.
type numberRidge struct{ within moments.Range }

// numbers parses labels as numbers. The job has checked them at its start.
func (n numberRidge) numbers(labels []string) (moments.Numbers, error) {
	values, err := dataset.Targets(labels)
	return moments.Numbers{Values: values, Range: n.within}, err
}

func (n numberRidge) targets(labels []string, _ int) (moments.Targets, error) {
	return n.numbers(labels)
}

func (n numberRidge) width() int    { return 2 }
func (n numberRidge) totals() int   { return 2 }
func (n numberRidge) outputs() int  { return 1 }
func (n numberRidge) extra(int) int { return 0 }

func (n numberRidge) criterion() criterion {
	return criterion{name: crossValidation, of: moments.NumberScore}
}

func (n numberRidge) solve(s *moments.Sums, alpha float64) (*fitted, error) {
	one, err := moments.Regress(s, n.within, alpha)
	return &fitted{solution: one}, err
}

// errorSumCount returns 3: the sums of the numbers, of their squares and of the squared errors.
func (n numberRidge) errorSumCount() int { return 3 }

func (n numberRidge) measurer(m feature.Mapping, t *fitted) (measurer, error) {
	return func(rows linalg.Rows, labels []string) ([]int64, error) {
		y, err := n.numbers(labels)
		if err != nil {
			return nil, err
		}
		e, err := moments.MeasureNumbers(m, t.solution, rows, y)
		if err != nil {
			return nil, err
		}
		return []int64{e.Truth, e.Power, e.Squared}, nil
	}, nil
}

func (n numberRidge) round(figures []int64, rows int) []int64 {
	e := (&moments.NumberErrors{Rows: int64(rows), Truth: figures[0], Power: figures[1], Squared: figures[2]}).Rounded()
	return []int64{e.Truth, e.Power, e.Squared}
}

// evaluate computes rmse and r2. It omits r2 if the true numbers are equal, or differ too little for the
// rounding of the sums.
func (n numberRidge) evaluate(_ *moments.Sums, _ *fitted, rows int64, figures []int64) (*results, error) {
	e := moments.NumberErrors{Rows: rows, Truth: figures[0], Power: figures[1], Squared: figures[2]}
	v := &results{metrics: learner.Metrics{"rmse": e.RMSE(n.within)}}
	if r2, ok := e.R2(); ok {
		v.metrics["r2"] = r2
	}
	return v, nil
}

func (n numberRidge) describe(*fitted, *model.RandomSpec) {}

// gaussianProcess is the objective of a Gaussian process: a ridge regression whose noise, among the values of
// the job, maximises the likelihood of the numbers. With deviations, the parties also receive the sums of products of
// features.
type gaussianProcess struct {
	numberRidge
	deviations bool
}

func (p gaussianProcess) criterion() criterion {
	return criterion{name: "log_marginal_likelihood", of: moments.LogMarginalLikelihood, greater: true}
}

// extra returns how many values a solution has besides its weights. With deviations these are the
// unit of the numbers and the products of features.
func (p gaussianProcess) extra(features int) int {
	if !p.deviations {
		return 0
	}
	return 1 + moments.Triangle(features)
}

func (p gaussianProcess) solve(s *moments.Sums, noise float64) (*fitted, error) {
	t, err := p.numberRidge.solve(s, noise)
	if err == nil && p.deviations {
		t.extra = append([]float64{moments.Unit(s, p.within)}, triangleOf(s.Outer)...)
	}
	return t, err
}

// triangleOf returns the upper triangle of a matrix, row by row.
func triangleOf(m linalg.Matrix[float64]) []float64 {
	list := make([]float64, 0, moments.Triangle(m.Rows))
	for i := range m.Rows {
		list = append(list, m.Row(i)[i:]...)
	}
	return list
}

// errorSumCount returns the number of error sums. With deviations, two more are the sum of the
// deviations and the number of rows within 1.96 deviations.
func (p gaussianProcess) errorSumCount() int {
	if !p.deviations {
		return p.numberRidge.errorSumCount()
	}
	return p.numberRidge.errorSumCount() + 2
}

func (p gaussianProcess) measurer(m feature.Mapping, t *fitted) (measurer, error) {
	errors, err := p.numberRidge.measurer(m, t)
	if err != nil || !p.deviations {
		return errors, err
	}
	process, err := moments.NewProcess(moments.Symmetric(m.Len(), t.extra[1:]), t.solution.Alpha, t.extra[0])
	if err != nil {
		return nil, err
	}
	return func(rows linalg.Rows, labels []string) ([]int64, error) {
		figures, err := errors(rows, labels)
		if err != nil {
			return nil, err
		}
		y, err := p.numbers(labels)
		if err != nil {
			return nil, err
		}
		deviation, within, err := process.Measure(m, t.solution, rows, y)
		return append(figures, deviation, within), err
	}, nil
}

func (p gaussianProcess) round(figures []int64, rows int) []int64 {
	out := p.numberRidge.round(figures, rows)
	if !p.deviations {
		return out
	}
	e := (&moments.NumberErrors{Rows: int64(rows), Deviation: figures[3], Within: figures[4]}).Rounded()
	return append(out, e.Deviation, e.Within)
}

func (p gaussianProcess) evaluate(s *moments.Sums, t *fitted, rows int64, figures []int64) (*results, error) {
	v, err := p.numberRidge.evaluate(s, t, rows, figures)
	if err != nil {
		return nil, err
	}
	if p.deviations {
		e := moments.NumberErrors{Rows: rows, Deviation: figures[3], Within: figures[4]}
		v.metrics["mean_deviation"], v.metrics["coverage_95"] = e.Process(p.within)
	}
	v.metrics["log_marginal_likelihood"], err = moments.LogMarginalLikelihood(s, t.solution.Alpha)
	return v, err
}

// describe sets the model's noise and products of features. Without deviations it marks
// the model as a ridge regression.
func (p gaussianProcess) describe(t *fitted, r *model.RandomSpec) {
	if !p.deviations {
		r.Output.Kind = model.Ridge
		return
	}
	r.Noise, r.Unit = r.Solution.Alpha, t.extra[0]
	r.Outer = moments.Symmetric(r.Solution.Weights.Cols, t.extra[1:])
}

// classRidge is the objective of a classifier with one ridge regression for each listed class.
type classRidge []string

func (c classRidge) codes(labels []string) []int {
	codes := make([]int, len(labels))
	for i, label := range labels {
		codes[i] = slices.Index(c, label)
	}
	return codes
}

func (c classRidge) targets(labels []string, _ int) (moments.Targets, error) {
	return moments.Classes{Codes: c.codes(labels), Count: len(c)}, nil
}

func (c classRidge) width() int    { return len(c) }
func (c classRidge) totals() int   { return 0 }
func (c classRidge) outputs() int  { return len(c) }
func (c classRidge) extra(int) int { return 0 }

func (c classRidge) criterion() criterion {
	return criterion{name: crossValidation, of: moments.ClassScore}
}

// crossValidation is the score name of generalised cross-validation.
const crossValidation = "gcv"

func (c classRidge) solve(s *moments.Sums, alpha float64) (*fitted, error) {
	one, err := moments.Solve(s, alpha)
	return &fitted{solution: one}, err
}

// errorSumCount returns 1: the number of correctly classified rows.
func (c classRidge) errorSumCount() int { return 1 }

func (c classRidge) measurer(m feature.Mapping, t *fitted) (measurer, error) {
	return func(rows linalg.Rows, labels []string) ([]int64, error) {
		correct, err := moments.Correct(m, t.solution, rows, c.codes(labels))
		return []int64{int64(correct)}, err
	}, nil
}

func (c classRidge) round(figures []int64, n int) []int64 {
	return []int64{moments.RoundShare(int(figures[0]), n)}
}

func (c classRidge) evaluate(_ *moments.Sums, _ *fitted, rows int64, figures []int64) (*results, error) {
	return &results{metrics: learner.Metrics{"accuracy": float64(figures[0]) / moments.Thousand / float64(rows)}}, nil
}

func (c classRidge) describe(*fitted, *model.RandomSpec) {}
