package learner

import (
	"context"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/tune"
	"github.com/mercer-fl/mercer/linalg"
)

// Grid holds the candidates of a cross-validation: every kernel with every solver. Cells are
// numbered by kernel, then by solver.
type Grid struct {
	Kernels []kernel.Kernel
	Solvers []Solver // solvers for one task, classification or regression
}

// Folds describes how training rows are divided into K folds. If K is [job.EachRow], each row is a fold. The
// division depends on Seed, and for classes on the rows' labels in their order; with groups, on the groups alone.
type Folds struct {
	K    int
	Seed uint64
	Task job.Task // the learner's task, which determines the score and the division
}

// Divide returns the rows of each fold, ascending. Rows of one group are in the same fold, whatever
// their labels. Without groups, every row is its own group.
func (f Folds) Divide(labels, groups []string) ([][]int, error) {
	var parts [][]int
	var err error
	if groups != nil {
		parts, err = dataset.GroupFolds(groups, f.K)
	} else if !f.Task.Classes {
		parts, err = dataset.FoldsPlain(len(labels), f.K, f.Seed)
	} else {
		parts, err = dataset.Folds(labels, f.K, f.Seed)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FoldsMisfit(f.K), err)
	}
	return parts, nil
}

// FoldsMisfit returns the beginning of the error that rows cannot be divided into k folds. A failed job leaves only
// the text of its error; a program finds this beginning in the text and then points to the key "folds".
func FoldsMisfit(k int) string { return fmt.Sprintf("folds: %d does not fit the table", k) }

// Searched is the result of a cross-validated grid.
type Searched struct {
	*tune.Result
	rows  []int   // training rows of the problem
	folds [][]int // held-out rows of each fold, as positions in rows; all rows together if each was left out by itself
}

// ErrFewRows is the error if a class has too few rows both to train and to test. It names no class,
// because only the owners of the rows are allowed to see classes.
var ErrFewRows = errors.New("a class has a single training row, but folds require at least two rows of each class; leave out this class, or add rows of it")

// Search cross-validates a grid on the rows that are not held out. progress can be nil; it counts
// trials, one for each fold of each cell, or one for each cell if each row is a fold. An error of progress
// ends the search, and so does the end of ctx, with an error that wraps ctx's error.
func Search(ctx context.Context, t Problem, g Grid, f Folds, progress func(done, total int) error) (*Searched, error) {
	if f.K == job.EachRow {
		return t.leaveOneOut(ctx, g, f, -1, progress)
	}
	return t.search(ctx, g, f, progress, func(s tune.Search) (*tune.Result, error) {
		if t.X != nil {
			return s.RunOn(len(t.Test), t.matrix)
		}
		return s.Run(t.Gram)
	})
}

// SearchFor cross-validates a grid like [Search], and returns the outputs of the given cell.
func SearchFor(ctx context.Context, t Problem, g Grid, f Folds, cell int) (*Searched, error) {
	if f.K == job.EachRow {
		return t.leaveOneOut(ctx, g, f, cell, nil)
	}
	return t.search(ctx, g, f, nil, func(s tune.Search) (*tune.Result, error) {
		if t.X != nil {
			return s.RunOnFor(len(t.Test), t.matrix, cell)
		}
		return s.RunFor(t.Gram, cell)
	})
}

func (t Problem) search(ctx context.Context, g Grid, f Folds, progress func(done, total int) error, run func(tune.Search) (*tune.Result, error)) (*Searched, error) {
	s, search, err := t.prepareSearch(ctx, g, f)
	if err != nil {
		return nil, err
	}
	search.Progress = progress
	s.Result, err = run(search)
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	return s, nil
}

// prepareSearch divides the training rows into folds, and returns the search that runs the grid.
func (t Problem) prepareSearch(ctx context.Context, g Grid, f Folds) (*Searched, tune.Search, error) {
	rows, _ := t.Rows()
	labels := linalg.At(t.Labels, rows)
	if err := f.check(linalg.At(t.Labels, t.weighted(rows))); err != nil {
		return nil, tune.Search{}, fmt.Errorf("learner: %w", err)
	}
	folds, err := f.Divide(labels, linalg.At(t.Groups, rows))
	if err != nil {
		return nil, tune.Search{}, err
	}
	s := &Searched{rows: rows, folds: folds}
	return s, tune.Search{Kernels: g.Kernels, Folds: s.divide(t), Learner: t.learner(g.Solvers, rows, f.Task.Score, ctx.Err)}, nil
}

// Rows returns the number of different rows that were held out.
func (s *Searched) Rows() int { return len(s.rows) }

// check returns an error if the labels of a classification have a single class, or a class with a single row.
func (f Folds) check(labels []string) error {
	if !f.Task.Classes {
		return nil
	}
	classes, codes := dataset.Classes(labels)
	if len(classes) < 2 {
		return ErrOneClass
	}
	count := make([]int, len(classes))
	for _, c := range codes {
		count[c]++
	}
	for _, n := range count {
		if n < 2 {
			return ErrFewRows
		}
	}
	return nil
}

// divide returns the training rows and the held-out rows of each fold.
func (s *Searched) divide(t Problem) []tune.Fold {
	folds := make([]tune.Fold, len(s.folds))
	for i, test := range s.folds {
		folds[i] = tune.Fold{Train: t.weighted(linalg.At(s.rows, dataset.Complement(len(s.rows), test))), Test: linalg.At(s.rows, test)}
	}
	return folds
}

// Unseen returns a copy of f that has cross-validated decisions for the training rows. Each
// decision was made while its row was held out. The metrics of the result are means over the folds.
func (s *Searched) Unseen(f *Fitted, t Problem) *Fitted {
	out := *f
	out.folds, out.held = s.folds, len(s.rows)
	out.Truth = linalg.At(t.Labels, s.rows)
	out.Decisions = linalg.New[float64](len(s.rows), s.Outputs[0].Cols)
	for i, test := range s.folds {
		for a, row := range test {
			copy(out.Decisions.Row(row), s.Outputs[i].Row(a))
		}
	}
	out.Predicted = f.Head.Predict(out.Decisions)
	return &out
}

// restricted returns a copy of f that has only the given held-out rows.
func (f *Fitted) restricted(rows []int) *Fitted {
	out := &Fitted{
		Head: f.Head, Predicted: linalg.At(f.Predicted, rows), Truth: linalg.At(f.Truth, rows),
		method: f.method, held: len(rows), figures: f.figures, order: f.order,
	}
	out.Decisions = linalg.New[float64](len(rows), f.Decisions.Cols)
	for i, r := range rows {
		copy(out.Decisions.Row(i), f.Decisions.Row(r))
	}
	return out
}

// Mean averages each metric over all elements; it omits metrics that some element lacks.
func Mean(all []Metrics) Metrics {
	mean := make(Metrics)
	for name := range all[0] {
		sum, everywhere := 0.0, true
		for _, m := range all {
			v, has := m[name]
			sum, everywhere = sum+v, everywhere && has
		}
		if everywhere {
			mean[name] = sum / float64(len(all))
		}
	}
	return mean
}

// ErrNoScore is the error if the score is undefined on a fold. Equal numbers have no r2, and rows
// that lack a class have no auc.
var ErrNoScore = errors.New("the score has no value on a fold whose labels are all equal or lack a class; use fewer folds")

// lowerIsBetter reports whether smaller values of a score are better.
func lowerIsBetter(score string) bool { return score == "rmse" || score == "mae" }

// learner returns a tune.Learner that fits the given solvers. It stops if interrupt returns an
// error.
func (t Problem) learner(methods []Solver, rows []int, score string, interrupt func() error) tune.Learner {
	if score == "accuracy" {
		if all := fitJointly(t, methods, rows, interrupt); all != nil {
			return all
		}
	}
	return separateFits{t, methods, score, interrupt}
}

// separateFits is a tune.Learner that fits each solver from scratch.
type separateFits struct {
	task      Problem
	methods   []Solver
	score     string // name of the metric
	interrupt func() error
}

func (l separateFits) Settings() int { return len(l.methods) }

// Try implements [tune.Learner].
func (l separateFits) Try(k kernel.Source, f tune.Fold, tried func() error) ([]tune.Trial, error) {
	var list []tune.Trial
	for _, m := range l.methods {
		fitted, err := l.task.fit(k, f.Train, f.Test, m, nil, l.interrupt)
		if err != nil {
			return nil, err
		}
		one, err := fitted.trial(l.score)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
		if err := tried(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// trial returns the score and the decisions of a learner that was fitted with one cell on one fold.
func (f *Fitted) trial(score string) (tune.Trial, error) {
	m, err := f.measure()
	if err != nil {
		return tune.Trial{}, err
	}
	value, has := m[score]
	if !has {
		return tune.Trial{}, fmt.Errorf("score %s: %w", score, ErrNoScore)
	}
	if lowerIsBetter(score) {
		value = -value
	}
	t := tune.Trial{Score: value, Outputs: f.Decisions}
	if !f.Discrete() {
		return t, nil
	}
	for i, class := range f.Predicted {
		if class == f.Truth[i] {
			t.Correct++
		}
	}
	return t, nil
}
