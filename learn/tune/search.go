package tune

import (
	"errors"
	"fmt"
	"sync"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// Fold is one division of rows: a learner sees those to train on, and is
// scored on those to test. Both lists ascend, have a row at least, and share
// none.
type Fold struct{ Train, Test []int }

// Learner is one learner with several settings, to be tuned.
type Learner interface {
	// Settings returns how many settings there are, at least 1.
	Settings() int
	// Try trains on a fold's training rows of k with every setting, and returns
	// for each what it made of the test rows. It is called for several folds at
	// once, and its answer depends on k and f only. It calls tried after each
	// setting, and returns what that returns if it is an error.
	Try(k kernel.Source, f Fold, tried func() error) ([]Trial, error)
}

// Trial is the outcome of one setting on the test rows of one fold.
type Trial struct {
	Score   float64 // higher is better: accuracy of a classifier, R2 of a regression
	Correct int     // test rows that got their class; 0 for a regression
	// Outputs has a row for each test row: the decisions of a classifier, one
	// for each pair of classes; the predictions of a regression, in one column.
	Outputs linalg.Matrix[float64]
}

// Search is a grid: every kernel with every setting of the learner.
type Search struct {
	Kernels []kernel.Kernel
	Folds   []Fold
	Learner Learner
	// Progress, if not nil, is told after each setting of each fold and kernel how
	// many of these trials are done, by one goroutine at a time. Its error ends the
	// search, which returns it. To end a training that is under way, give its
	// parameters an Interrupt.
	Progress func(done, total int) error
}

// Cell is one point of a grid.
type Cell struct {
	Kernel  int       // of Search.Kernels
	Setting int       // of the learner
	Scores  []float64 // by fold
	Mean    float64   // of the scores, each fold with the same weight
	Correct int       // test rows of all folds that got their class
}

// Result is a searched grid.
type Result struct {
	Cells []Cell // by kernel, and for each kernel by setting
	Best  int    // the cell with the highest mean; of several the first
	// Outputs are one cell's outputs on the test rows of each fold: the best cell's
	// unless another was asked for.
	Outputs []linalg.Matrix[float64]
}

// Run cross-validates the grid on rows with the linear Gram matrix dot (n x n,
// symmetric), which it does not change. It takes 8 n^2 bytes besides.
func (s Search) Run(dot linalg.Matrix[float64]) (*Result, error) {
	return s.RunOn(dot.Rows, materialized(dot))
}

// RunFor is Run with the outputs of the given cell in place of the best one's:
// to compare two searches of the same grid.
func (s Search) RunFor(dot linalg.Matrix[float64], cell int) (*Result, error) {
	return s.RunOnFor(dot.Rows, materialized(dot), cell)
}

// RunOn is Run on the kernels' matrices of n rows that matrix returns, one at a time. A matrix may
// hold no values, like a kernel.Lazy.
func (s Search) RunOn(n int, matrix func(kernel.Kernel) kernel.Source) (*Result, error) {
	return s.run(n, matrix, -1)
}

// RunOnFor is RunOn with the outputs of the given cell, as in RunFor.
func (s Search) RunOnFor(n int, matrix func(kernel.Kernel) kernel.Source, cell int) (*Result, error) {
	if total := len(s.Kernels) * s.Learner.Settings(); cell < 0 || cell >= total {
		return nil, fmt.Errorf("tune: there is no cell %d in a grid of %d", cell, total)
	}
	return s.run(n, matrix, cell)
}

// materialized returns kernels' matrices of a Gram matrix, all in the same memory.
func materialized(dot linalg.Matrix[float64]) func(kernel.Kernel) kernel.Source {
	var room linalg.Matrix[float64]
	return func(k kernel.Kernel) kernel.Source {
		if k.Name() == "linear" {
			return kernel.Dense{K: dot}
		}
		if room.Data == nil {
			room = linalg.New[float64](dot.Rows, dot.Rows)
		}
		return kernel.MaterializeIn(room, kernel.Of(dot, k))
	}
}

func (s Search) run(n int, matrix func(kernel.Kernel) kernel.Source, wanted int) (*Result, error) {
	if err := s.check(n); err != nil {
		return nil, err
	}
	r := &Result{}
	tried := s.counter()
	for i, k := range s.Kernels {
		folds, err := s.tryFolds(matrix(k), tried)
		if err != nil {
			return nil, fmt.Errorf("tune: kernel %d, %s: %w", i+1, k.Name(), err)
		}
		for setting := range s.Learner.Settings() {
			r.add(i, setting, folds, wanted)
		}
	}
	return r, nil
}

// counter returns what counts trials and tells Progress.
func (s Search) counter() func() error {
	if s.Progress == nil {
		return func() error { return nil }
	}
	var mu sync.Mutex
	done, total := 0, len(s.Kernels)*len(s.Folds)*s.Learner.Settings()
	return func() error {
		mu.Lock()
		defer mu.Unlock()
		done++
		return s.Progress(done, total)
	}
}

// tryFolds returns the trials of every fold. Of several errors it returns the first
// fold's.
func (s Search) tryFolds(k kernel.Source, tried func() error) ([][]Trial, error) {
	trials, failed := make([][]Trial, len(s.Folds)), make([]error, len(s.Folds))
	linalg.For(len(s.Folds), 1, func(f, _ int) {
		trials[f], failed[f] = s.Learner.Try(k, s.Folds[f], tried)
		if failed[f] == nil && len(trials[f]) != s.Learner.Settings() {
			failed[f] = fmt.Errorf("%d trials of %d settings", len(trials[f]), s.Learner.Settings())
		}
	})
	for f, err := range failed {
		if err != nil {
			return nil, fmt.Errorf("fold %d: %w", f+1, err)
		}
	}
	return trials, nil
}

// add appends a cell; its scores are added in the order of the folds.
func (r *Result) add(k, setting int, folds [][]Trial, wanted int) {
	c := Cell{Kernel: k, Setting: setting}
	var outputs []linalg.Matrix[float64]
	sum := 0.0
	for _, trials := range folds {
		t := trials[setting]
		c.Scores = append(c.Scores, t.Score)
		outputs = append(outputs, t.Outputs)
		c.Correct += t.Correct
		sum += t.Score
	}
	c.Mean = sum / float64(len(folds))
	at := len(r.Cells)
	better := at == 0 || c.Mean > r.Cells[r.Best].Mean
	if better {
		r.Best = at
	}
	if at == wanted || wanted < 0 && better {
		r.Outputs = outputs
	}
	r.Cells = append(r.Cells, c)
}

// check refuses what is no grid over n rows.
func (s Search) check(n int) error {
	switch {
	case len(s.Kernels) == 0:
		return errors.New("tune: no kernels; give one at least")
	case s.Learner.Settings() < 1:
		return errors.New("tune: the learner has no settings; give one at least")
	case len(s.Folds) < 2:
		return fmt.Errorf("tune: %d folds; give two at least", len(s.Folds))
	}
	for i, f := range s.Folds {
		if err := f.check(n); err != nil {
			return fmt.Errorf("tune: fold %d: %w", i+1, err)
		}
	}
	return nil
}

// check refuses a fold that tests on what it trains on, and lists that do not
// ascend from 0 to n-1.
func (f Fold) check(n int) error {
	trains := make([]bool, n)
	for _, part := range []struct {
		name string
		rows []int
	}{{"training", f.Train}, {"test", f.Test}} {
		if len(part.rows) == 0 {
			return fmt.Errorf("no %s rows; use fewer folds", part.name)
		}
		last := -1
		for _, r := range part.rows {
			switch {
			case r <= last || r >= n:
				return fmt.Errorf("row %d after row %d among %d: the %s rows must ascend", r, last, n, part.name)
			case part.name == "test" && trains[r]:
				return fmt.Errorf("row %d is to train and to test on", r)
			}
			trains[r] = true
			last = r
		}
	}
	return nil
}
