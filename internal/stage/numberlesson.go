package stage

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/evaluate"
	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// numberLesson is a ridge regression.
type numberLesson struct {
	within moments.Range
	alphas []float64
}

// numbers reads labels, which were checked when the job began.
func (n numberLesson) numbers(labels []string) (moments.Numbers, error) {
	values, err := dataset.Targets(labels)
	return moments.Numbers{Values: values, Range: n.within}, err
}

// checkNumbers refuses labels that are no numbers of the job's range.
func (n numberLesson) checkNumbers(set *dataset.Set) error {
	values, err := dataset.Targets(set.Labels)
	if err != nil {
		return fmt.Errorf("%s: %w", set.Name, err)
	}
	for i, v := range values {
		if !n.within.Holds(v) {
			return fmt.Errorf("%s has the number %v in row %d, beyond the job's targets: [%v, %v]; give a range that holds all", set.Name, v, i+1, n.within.Least, n.within.Greatest)
		}
	}
	return nil
}

func (n numberLesson) targets(labels []string, _ int) (moments.Targets, error) {
	return n.numbers(labels)
}

func (n numberLesson) width() int      { return 2 }
func (n numberLesson) totals() int     { return 2 }
func (n numberLesson) outputs() int    { return 1 }
func (n numberLesson) further(int) int { return 0 }

func (n numberLesson) solve(s *moments.Sums) (*taught, error) {
	path, err := moments.Regress(s, n.within, n.alphas)
	return &taught{path: path}, err
}

// figures: sums of the numbers and of their squares, squared errors of each
// solution.
func (n numberLesson) figures() int { return 2 + len(n.alphas) }

func (n numberLesson) measure(m feature.Map, t *taught, rows linalg.Rows, labels []string) ([]int64, error) {
	y, err := n.numbers(labels)
	if err != nil {
		return nil, err
	}
	e, err := moments.MeasureNumbers(m, t.path, rows, y)
	if err != nil {
		return nil, err
	}
	return slices.Concat([]int64{e.Truth, e.Power}, e.Squared), nil
}

func (n numberLesson) judge(_ *moments.Sums, _ *taught, rows int64, figures []int64) (*verdict, error) {
	return n.byErrors(n.errors(rows, figures)), nil
}

func (n numberLesson) errors(rows int64, figures []int64) *moments.NumberErrors {
	return &moments.NumberErrors{Rows: rows, Truth: figures[0], Power: figures[1], Squared: figures[2 : 2+len(n.alphas)]}
}

// byErrors is the verdict with rmse and r2; the latter is left out where the
// truth is constant.
func (n numberLesson) byErrors(e *moments.NumberErrors) *verdict {
	v := &verdict{best: e.Best(), metrics: evaluate.Metrics{}}
	for k := range e.Squared {
		r2, ok := e.R2(k)
		v.cells = append(v.cells, Cell{Score: "r2", Mean: r2})
		if !ok {
			v.cells[k].Mean = 0
		}
		if k == v.best && ok {
			v.metrics["r2"] = r2
		}
	}
	v.metrics["rmse"] = e.RMSE(v.best, n.within)
	return v
}

func (n numberLesson) describe(_ *taught, r *model.RandomSpec) {
	r.Reading = model.Reading{Kind: model.Ridge}
}

// processLesson is a Gaussian process: a ridge regression with deviations, for
// which the parties are told the sums of products of features too.
type processLesson struct{ numberLesson }

// further: the unit of the numbers, and the products of features.
func (p processLesson) further(features int) int { return 1 + moments.Triangle(features) }

func (p processLesson) solve(s *moments.Sums) (*taught, error) {
	t, err := p.numberLesson.solve(s)
	if err != nil {
		return nil, err
	}
	t.further = append([]float64{moments.Unit(s, p.within)}, triangleOf(s.Outer)...)
	return t, nil
}

// triangleOf is the upper triangle of a matrix, row after row.
func triangleOf(m linalg.Matrix[float64]) []float64 {
	list := make([]float64, 0, moments.Triangle(m.Rows))
	for i := range m.Rows {
		list = append(list, m.Row(i)[i:]...)
	}
	return list
}

// figures: also the deviations of each solution, and the rows within 1.96 of
// them.
func (p processLesson) figures() int { return 2 + 3*len(p.alphas) }

func (p processLesson) measure(m feature.Map, t *taught, rows linalg.Rows, labels []string) ([]int64, error) {
	figures, err := p.numberLesson.measure(m, t, rows, labels)
	if err != nil {
		return nil, err
	}
	y, err := p.numbers(labels)
	if err != nil {
		return nil, err
	}
	l, outer := len(p.alphas), moments.Symmetric(m.Len(), t.further[1:])
	more := make([]int64, 2*l)
	for k, noise := range p.alphas { // one factor at a time: it is as large as the sums
		one, err := moments.NewProcess(outer, noise, t.further[0])
		if err != nil {
			return nil, err
		}
		if more[k], more[l+k], err = one.Measure(m, t.path[k], rows, y); err != nil {
			return nil, err
		}
	}
	return append(figures, more...), nil
}

func (p processLesson) judge(s *moments.Sums, _ *taught, rows int64, figures []int64) (*verdict, error) {
	l, e := len(p.alphas), p.errors(rows, figures)
	e.Deviation, e.Within = figures[2+l:2+2*l], figures[2+2*l:]
	v := p.byErrors(e)
	v.metrics["mean_deviation"], v.metrics["coverage_95"] = e.Process(v.best, p.within)
	var err error
	v.metrics["log_marginal_likelihood"], err = moments.LogMarginalLikelihood(s, p.alphas[v.best])
	return v, err
}

func (p processLesson) describe(t *taught, r *model.RandomSpec) {
	r.Reading, r.Noise, r.Unit = model.Reading{Kind: model.GP}, r.Solution.Alpha, t.further[0]
	r.Outer = moments.Symmetric(r.Solution.Weights.Cols, t.further[1:])
}
