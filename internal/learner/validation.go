package learner

import (
	"context"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/tune"
)

// Validation is the cross-validation of a grid on a Gram matrix. It has all that a process needs to
// compute the trials of a kernel and a fold.
type Validation struct {
	Problem  Problem       // rows, labels and held-out rows; Gram must be set
	Kernels  []kernel.Spec // kernels of the grid; all parameters are numbers
	Learners []job.Named   // learners of the grid, of one Kind
	Folds    int           // number of folds
	Seed     uint64        // seed of the job
	Score    string        // name of the metric by which cells are compared
}

// Workers computes trials of a cross-validation in other processes.
type Workers interface {
	// Trials returns trials that other processes have computed, by kernel and fold. Trials that this
	// process must compute are nil. It returns nil if it has offered none to other processes. progress
	// counts trials; it can be nil.
	Trials(ctx context.Context, v *Validation, progress func(done, total int) error) ([][][]tune.Trial, error)
	// Discard removes the files that Trials and other processes left behind. Trials must not be running.
	Discard() error
}

// validationOf returns the cross-validation of a job whose gammas are plain numbers.
func validationOf(plain *job.Job, t Problem) *Validation {
	v := &Validation{Problem: t, Learners: plain.Learners(), Folds: plain.Data.Folds, Seed: plain.Seed, Score: plain.Task().Score}
	for _, k := range plain.Kernels() {
		v.Kernels = append(v.Kernels, k.Spec())
	}
	return v
}

// search returns the search that runs the whole grid.
func (v *Validation) search(ctx context.Context) (tune.Search, error) {
	var g Grid
	for _, spec := range v.Kernels {
		k, err := kernel.New(spec)
		if err != nil {
			return tune.Search{}, fault.BadInput(err)
		}
		g.Kernels = append(g.Kernels, k)
	}
	for _, l := range v.Learners {
		s, err := solverOf(l, v.Seed)
		if err != nil {
			return tune.Search{}, err
		}
		g.Solvers = append(g.Solvers, s)
	}
	task := (&job.Job{Learner: v.Learners[0], Scoring: job.Scoring(v.Score)}).Task()
	_, search, err := v.Problem.prepareSearch(ctx, g, Folds{K: v.Folds, Seed: v.Seed, Task: task})
	return search, err
}

// Trier returns a function that computes the trials of one kernel and one fold, counted from 0. It
// must not be called by two goroutines at a time. If ctx ends, the function soon stops with an error
// that wraps ctx's error.
func (v *Validation) Trier(ctx context.Context) (func(kernel, fold int) ([]tune.Trial, error), error) {
	s, err := v.search(ctx)
	if err != nil {
		return nil, err
	}
	try, err := s.Trier(v.Problem.Gram)
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	return try, nil
}

// TestRows returns the number of test rows of each fold.
func (v *Validation) TestRows(ctx context.Context) ([]int, error) {
	s, err := v.search(ctx)
	if err != nil {
		return nil, err
	}
	counts := make([]int, len(s.Folds))
	for i, f := range s.Folds {
		counts[i] = len(f.Test)
	}
	return counts, nil
}

// Outside counts the cells of a cross-validation that a coordinator offered to other processes. A
// cell is one kernel on one fold, with all settings of the learner.
type Outside struct {
	Offered int `json:"offered"`
	Taken   int `json:"taken"` // cells whose results came from other processes
}

// Leak adds to the leakage statement in lines what machines learn that compute cells.
func (o *Outside) Leak(lines map[string][]string) {
	if o == nil {
		return
	}
	lines["server"] = append(lines["server"], fmt.Sprintf("The coordinator offered %d cells of the cross-validation, each one kernel on one fold, to other processes, and took the results of %d. A machine that computes cells has the coordinator's Gram matrix, labels and folds in its memory. It could falsify results, so it is trusted with the model.", o.Offered, o.Taken))
}

// divisible reports whether other processes can compute the trials of a job. They cannot if rows have weights,
// which they do not get, or if each row is a fold, because a cell then has one score over all rows together.
func (t Problem) divisible(j *job.Job) bool { return t.Weights == nil && j.Data.Folds != job.EachRow }

// chooseWith is like [Choose] and lets workers compute trials.
func chooseWith(ctx context.Context, j *job.Job, t Problem, workers Workers, progress func(done, total int) error) (*Choice, error) {
	t.Order = j.Data.Order
	var outside *Outside
	c, err := choose(ctx, j, t, func(plain *job.Job, g Grid) (*Searched, int, error) {
		trials, err := workers.Trials(ctx, validationOf(plain, t), progress)
		if err != nil {
			return nil, 0, err
		}
		outside = countOutside(trials)
		s, err := t.search(ctx, g, FoldsOf(j), progress, func(s tune.Search) (*tune.Result, error) {
			if trials != nil {
				s.Known = func(kernel, fold int) []tune.Trial { return trials[kernel][fold] }
			}
			return s.Run(t.Gram)
		})
		if err != nil {
			return nil, 0, ExplainFailure(ctx, err)
		}
		return s, s.Best, nil
	})
	if err == nil {
		c.Outside = outside
	}
	return c, err
}

// countOutside counts the trials of other processes. It returns nil if none were offered.
func countOutside(trials [][][]tune.Trial) *Outside {
	if trials == nil {
		return nil
	}
	o := &Outside{}
	for _, folds := range trials {
		for _, f := range folds {
			if o.Offered++; f != nil {
				o.Taken++
			}
		}
	}
	return o
}
