package learner

import (
	"context"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/learn/tune"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// leaveOneOuter is a solver that computes, at the price of about two fits, the decision for each
// training row of the solver fitted on the other rows. The decisions equal those of separate fits up
// to rounding.
type leaveOneOuter interface {
	LeaveOneOut(t Training) (model.Kind, linalg.Matrix[float64], error)
}

// maxLeftOut is the largest number of rows that are left out by one fit each.
const maxLeftOut = 500

// leaveOneOut cross-validates a grid by leaving out each row that is not held out. A cell has one
// score, over the decisions for all these rows together, because most scores have no value on a single
// row. wanted is the cell whose decisions the result has, or negative for the best one.
func (t Problem) leaveOneOut(ctx context.Context, g Grid, f Folds, wanted int, progress func(done, total int) error) (*Searched, error) {
	rows, _ := t.Rows()
	if err := f.check(linalg.At(t.Labels, t.weighted(rows))); err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	if len(t.weighted(rows)) < 2 {
		return nil, fault.BadInputf(`learner: "folds: each" needs two training rows or more`)
	}
	s := &Searched{Result: &tune.Result{}, rows: rows, folds: [][]int{linalg.Range(0, len(rows))}}
	for i, k := range g.Kernels {
		all := t.matrix(k)
		for setting, m := range g.Solvers {
			trial, err := t.tryLeftOut(all, rows, m, f.Task.Score, ctx.Err)
			if err != nil {
				return nil, fmt.Errorf("learner: %w", err)
			}
			s.add(i, setting, trial, wanted)
			if progress == nil {
				continue
			}
			if err := progress(len(s.Cells), len(g.Kernels)*len(g.Solvers)); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// add appends a cell of a leave-one-out cross-validation.
func (s *Searched) add(k, setting int, trial tune.Trial, wanted int) {
	at := len(s.Cells)
	better := at == 0 || trial.Score > s.Cells[s.Best].Mean
	if better {
		s.Best = at
	}
	if at == wanted || wanted < 0 && better {
		s.Outputs = []linalg.Matrix[float64]{trial.Outputs}
	}
	s.Cells = append(s.Cells, tune.Cell{Kernel: k, Setting: setting, Scores: []float64{trial.Score}, Mean: trial.Score, Correct: trial.Correct})
}

// tryLeftOut returns the outcome of a solver on the given rows, each left out by itself.
func (t Problem) tryLeftOut(all kernel.Source, rows []int, m Solver, score string, interrupt func() error) (tune.Trial, error) {
	f, err := t.leftOut(all, rows, t.weighted(rows), m, interrupt)
	if err != nil {
		return tune.Trial{}, err
	}
	return f.trial(score)
}

// FitEach trains the job's learner on the rows that are not held out, and decides every row. The model
// decides the rows that do not train it, which are the held-out rows and those whose weight is 0 or less; each
// other row is decided by the learner fitted without it.
func FitEach(ctx context.Context, j *job.Job, t Problem) (*Fitted, error) {
	l, err := SpecOf(j)
	if err != nil {
		return nil, err
	}
	t.Order = j.Data.Order
	train, _ := t.Rows()
	f, err := t.leftOut(t.matrix(l.Kernel), linalg.Range(0, len(t.Test)), t.weighted(train), l.Solver, ctx.Err)
	if err != nil {
		return nil, fmt.Errorf("learner: %w", ExplainFailure(ctx, err))
	}
	return f, nil
}

// leftOut returns the decisions of a solver for the given rows. The rows in train, which are some of them, train
// the solver; the decision for each of these comes from a solver that was fitted without that row.
func (t Problem) leftOut(all kernel.Source, rows, train []int, m Solver, interrupt func() error) (*Fitted, error) {
	others := without(rows, train)
	exact, can := m.(leaveOneOuter)
	f := &Fitted{method: m, order: t.Order}
	var own linalg.Matrix[float64]
	var err error
	if can {
		f.Head.Kind, own, err = exact.LeaveOneOut(t.training(all, train, nil, interrupt))
	} else {
		own, err = t.leaveOutInTurn(all, train, m, interrupt)
	}
	if err == nil && (!can || len(others) > 0) {
		f, err = t.fit(all, train, others, m, nil, interrupt)
	}
	if err != nil {
		return nil, err
	}
	f.Decisions = merged(rows, others, own, f.Decisions)
	f.Predicted, f.Truth, f.held, f.figures = f.Head.Predict(f.Decisions), linalg.At(t.Labels, rows), len(rows), Metrics{}
	return f, nil
}

// leaveOutInTurn fits a solver once for each row, without this row.
func (t Problem) leaveOutInTurn(all kernel.Source, train []int, m Solver, interrupt func() error) (linalg.Matrix[float64], error) {
	if len(train) > maxLeftOut {
		return linalg.Matrix[float64]{}, fault.BadInputf(`"folds: each" fits this learner once for each of %d training rows, but at most %d are allowed; write "folds: 10", or use ridge or gp, which need no further fits`, len(train), maxLeftOut)
	}
	decisions, failed := make([]linalg.Matrix[float64], len(train)), make([]error, len(train))
	linalg.For(len(train), 1, func(i, _ int) {
		var f *Fitted
		if f, failed[i] = t.fit(all, without(train, train[i:i+1]), train[i:i+1], m, nil, interrupt); failed[i] == nil {
			decisions[i] = f.Decisions
		}
	})
	for i, err := range failed {
		if err != nil {
			return linalg.Matrix[float64]{}, fmt.Errorf("the fit without training row %d: %w", i+1, err)
		}
	}
	out := linalg.New[float64](len(train), decisions[0].Cols)
	for i, d := range decisions {
		copy(out.Row(i), d.Row(0))
	}
	return out, nil
}

// without returns the rows that are not in the list some. Both lists ascend.
func without(rows, some []int) []int {
	var rest []int
	for _, r := range rows {
		if len(some) > 0 && some[0] == r {
			some = some[1:]
			continue
		}
		rest = append(rest, r)
	}
	return rest
}

// merged returns the decisions for all rows in their order. ofOthers holds the decisions for the rows
// in others, and own those for the remaining rows.
func merged(rows, others []int, own, ofOthers linalg.Matrix[float64]) linalg.Matrix[float64] {
	out := linalg.New[float64](len(rows), own.Cols)
	at, other := 0, 0
	for i, r := range rows {
		if other < len(others) && others[other] == r {
			copy(out.Row(i), ofOthers.Row(other))
			other++
			continue
		}
		copy(out.Row(i), own.Row(at))
		at++
	}
	return out
}

// leftOutMeans returns, for each row, the prediction of the ridge regression on the other rows, whose
// targets are centred at their own mean, and the predicted deviation for targets of variance 1.
func leftOutMeans(t Training, alpha float64) (predicted, deviations []float64, err error) {
	y, err := parseNumbers(t.Labels)
	if err != nil {
		return nil, nil, err
	}
	centre := weightedMean(y, t.Weights)
	targets := linalg.New[float64](2, len(y)) // the centred targets, and ones
	for i, v := range y {
		targets.Row(0)[i], targets.Row(1)[i] = v-centre, 1
	}
	left, err := ridge.LeaveOneOut(t.Kernel, targets, t.Weights, alpha, t.Interrupt)
	if err != nil {
		return nil, nil, err
	}
	means := meansOfOthers(targets.Row(0), t.Weights)
	for i, v := range y {
		y[i] = v - (left.Residuals.Row(0)[i] - means[i]*left.Residuals.Row(1)[i])
	}
	for i, v := range left.Variances {
		left.Variances[i] = math.Sqrt(v)
	}
	return y, left.Variances, nil
}

// meansOfOthers returns, for each number, the weighted mean of all others. Nil weights are 1 each. It
// adds up the numbers before and after each one: a difference of sums would lose digits.
func meansOfOthers(y, weights []float64) []float64 {
	weight := func(i int) float64 {
		if weights == nil {
			return 1
		}
		return weights[i]
	}
	means, totals := make([]float64, len(y)), make([]float64, len(y))
	sum, total := 0.0, 0.0
	for i, v := range y {
		means[i], totals[i] = sum, total
		sum, total = sum+weight(i)*v, total+weight(i)
	}
	sum, total = 0, 0
	for i := len(y) - 1; i >= 0; i-- {
		means[i] = (means[i] + sum) / (totals[i] + total)
		sum, total = sum+weight(i)*y[i], total+weight(i)
	}
	return means
}
