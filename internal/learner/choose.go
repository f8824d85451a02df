package learner

import (
	"context"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// Choice is the cell of a job's grid that was chosen to train the model.
type Choice struct {
	Job  *job.Job // the job with only this cell, and with gamma as a plain number
	Grid []Cell   // all cells of the grid; empty without folds
	// Outside counts what other processes computed of the cross-validation. It is nil if nothing was
	// offered to other processes.
	Outside *Outside

	searched *Searched // the cross-validation; nil without folds
}

// Choose cross-validates the grid of a job with folds, and chooses the cell with the best mean score. It
// replaces data-dependent units of gamma by numbers; without folds, it does nothing else. progress can be
// nil. If ctx ends, the search soon stops with an error that wraps ctx's error.
func Choose(ctx context.Context, j *job.Job, t Problem, progress func(done, total int) error) (*Choice, error) {
	t.Order = j.Data.Order
	return choose(ctx, j, t, func(_ *job.Job, g Grid) (*Searched, int, error) {
		s, err := Search(ctx, t, g, FoldsOf(j), progress)
		if err != nil {
			return nil, 0, ExplainFailure(ctx, err)
		}
		return s, s.Best, nil
	})
}

// ChooseCell cross-validates a job's grid and chooses the cell with the given index. Other members
// have chosen this cell from the same grid.
func ChooseCell(ctx context.Context, j *job.Job, t Problem, cell int) (*Choice, error) {
	t.Order = j.Data.Order
	return choose(ctx, j, t, func(_ *job.Job, g Grid) (*Searched, int, error) {
		s, err := SearchFor(ctx, t, g, FoldsOf(j), cell)
		if err != nil {
			return nil, 0, ExplainFailure(ctx, err)
		}
		return s, cell, nil
	})
}

// choose calls the function search if the job has folds. The arguments of search are the job with plain
// numbers and the job's grid.
func choose(ctx context.Context, j *job.Job, t Problem, search func(*job.Job, Grid) (*Searched, int, error)) (*Choice, error) {
	plain, err := inPlainNumbers(j, t)
	if err != nil || j.Data.Folds == 0 {
		return &Choice{Job: plain}, err
	}
	grid, err := gridOfJob(plain)
	if err != nil {
		return nil, err
	}
	s, best, err := search(plain, grid)
	if err != nil {
		return nil, err
	}
	return chosen(plain, s, best), nil
}

// FoldsOf returns how a job divides its training rows into folds.
func FoldsOf(j *job.Job) Folds {
	return Folds{K: j.Data.Folds, Seed: j.Seed, Task: j.Task()}
}

func chosen(plain *job.Job, s *Searched, best int) *Choice {
	c := &Choice{Job: plain.At(best), searched: s}
	for i, cell := range s.Cells {
		one := plain.At(i)
		if lowerIsBetter(plain.Task().Score) { // the search maximises, so an error has the opposite sign
			cell.Mean = -cell.Mean
			for k := range cell.Scores {
				cell.Scores[k] = -cell.Scores[k]
			}
		}
		c.Grid = append(c.Grid, Cell{
			Kernel: one.Kernel.Spec(), Numbers: NumbersOf(one.Learner), Score: plain.Task().Score, Folds: cell.Scores, Mean: cell.Mean,
			Correct: cell.Correct, Rows: s.Rows(), Best: i == best,
		})
	}
	return c
}

// Fit trains on the rows that are not held out. If no rows are held out, the result of a job with folds has
// the decisions of the cross-validation. progress can be nil. If ctx ends, the training soon stops with
// an error that wraps ctx's error.
func (c *Choice) Fit(ctx context.Context, t Problem, progress func(done, total int) error) (*Fitted, error) {
	learner, err := SpecOf(c.Job)
	if err != nil {
		return nil, err
	}
	t.Order = c.Job.Data.Order
	f, err := Fit(ctx, t, learner, progress)
	if err != nil {
		return nil, ExplainFailure(ctx, err)
	}
	if len(f.Truth) == 0 && c.searched != nil {
		f = c.searched.Unseen(f, t)
	}
	return f, nil
}

// Work holds the state of a process that learns, step by step, from the inner products of all rows.
type Work struct {
	Problem Problem
	Workers Workers // computes trials in other processes; nil: this process computes all
	Choice  *Choice // the chosen cell; set by step tune or learn
	Fitted  *Fitted // the trained learner; set by step learn
	Metrics Metrics // metrics on the held-out rows; set by step evaluate
	// Holders lists the parties with their rows; it must be set before step evaluate. It is nil if
	// no rows belong to single parties, such as those of parties that hold columns.
	Holders []PartyRows
	// Assessment evaluates the predictions on the held-out rows in detail. Step evaluate sets it;
	// it is nil without a truth.
	Assessment *Assessment
}

// Do performs one step: tune, learn or evaluate. The step learn performs tune first if necessary.
// For each part of a step, progressOf returns a progress function, which can be nil. If ctx ends,
// the step soon stops with an error that wraps ctx's error.
func (w *Work) Do(ctx context.Context, j *job.Job, step string, progressOf func(part string) func(done, total int) error) error {
	var err error
	switch step {
	case "tune":
		if w.Workers != nil && w.Problem.divisible(j) {
			w.Choice, err = chooseWith(ctx, j, w.Problem, w.Workers, progressOf(step))
		} else {
			w.Choice, err = Choose(ctx, j, w.Problem, progressOf(step))
		}
	case "learn":
		if w.Choice == nil {
			err = w.Do(ctx, j, "tune", progressOf)
		}
		if err == nil {
			w.Fitted, err = w.Choice.Fit(ctx, w.Problem, progressOf(step))
		}
	case "evaluate":
		err = w.evaluate(j.Seed)
	default:
		err = fmt.Errorf("%s: step %s is unknown; a step must be tune, learn or evaluate", j.Protocol.Name(), step)
	}
	return err
}

// evaluate computes the metrics and the assessment of the predictions.
func (w *Work) evaluate(seed uint64) error {
	var err error
	if w.Metrics, err = w.Fitted.Measure(); err != nil {
		return err
	}
	train, _ := w.Problem.Rows()
	var labels []string
	if w.Problem.Labels != nil {
		labels = linalg.At(w.Problem.Labels, train)
	}
	if w.Assessment, err = w.Fitted.Assess(labels, seed); err != nil || w.Assessment == nil {
		return err
	}
	w.Assessment.ByParty, err = w.byParty()
	return err
}

// ExplainFailure marks an error of learning as an input error, unless ctx has ended: if learning fails,
// labels, numbers or parameters contradict each other.
func ExplainFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	return fault.BadInput(err)
}

// inPlainNumbers returns the job with a number in place of every gamma that depends on the data.
func inPlainNumbers(j *job.Job, t Problem) (*job.Job, error) {
	out := *j
	units := make(map[job.GammaUnit]float64)
	plain := func(k job.Kernel) (job.Kernel, error) {
		if k.GammaUnit == "" {
			return k, nil
		}
		if _, known := units[k.GammaUnit]; !known {
			length, err := t.gammaUnitValue(k.GammaUnit)
			if err != nil {
				return k, err
			}
			units[k.GammaUnit] = length
		}
		unit := units[k.GammaUnit]
		if !(unit > 0) {
			return k, fault.BadInputf("gamma_unit %s is %v, because too many training rows are equal or zero; give gamma without a unit", k.GammaUnit, unit)
		}
		return k.Over(unit), nil
	}
	var err error
	if out.Kernel, err = plain(j.Kernel); err != nil {
		return nil, err
	}
	out.Grid.Kernels = slices.Clone(j.Grid.Kernels)
	for i, k := range j.Grid.Kernels {
		if out.Grid.Kernels[i], err = plain(k); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// gridOfJob returns the grid of a job whose gammas are plain numbers.
func gridOfJob(j *job.Job) (Grid, error) {
	var g Grid
	for _, k := range j.Kernels() {
		built, err := kernel.New(k.Spec())
		if err != nil {
			return g, fault.BadInput(err)
		}
		g.Kernels = append(g.Kernels, built)
	}
	for _, l := range j.Learners() {
		m, err := solverOf(l, j.Seed)
		if err != nil {
			return g, err
		}
		g.Solvers = append(g.Solvers, m)
	}
	return g, nil
}
