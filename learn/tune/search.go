package tune

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// Fold divides rows into rows for training and rows for testing. Both lists ascend, are not empty,
// and share no row.
type Fold struct{ Train, Test []int }

// Learner is a learning method with several settings to choose from.
type Learner interface {
	// Settings returns the number of settings, at least 1.
	Settings() int
	// Try trains with every setting on a fold's training rows. The kernel matrix is k. It returns
	// the outcome on the test rows for each setting. It is called for several folds at once, and
	// its result must depend on k and f only. It calls tried after each setting; if tried returns
	// an error, Try returns it.
	Try(k kernel.Source, f Fold, tried func() error) ([]Trial, error)
}

// Trial is the outcome of one setting on the test rows of one fold.
type Trial struct {
	Score   float64 // score that the learner chooses, such as the accuracy or R2; higher is better
	Correct int     // number of test rows with a correct class; 0 for a regression
	// Outputs has a row for each test row, with the learner's decisions: for [SVC], one for each pair
	// of classes; for a regression, the prediction.
	Outputs linalg.Matrix[float64]
}

// Search is a grid of every kernel with every setting of the learner.
type Search struct {
	Kernels []kernel.Kernel
	Folds   []Fold
	Learner Learner
	// Known, if not nil, returns the trials of a kernel and a fold that another process has computed
	// by [Search.Trier], one for each setting. It returns nil if the search must compute them.
	Known func(kernel, fold int) []Trial
	// Progress, if not nil, is called with the number of finished trials after each setting of each
	// fold and kernel. Only one goroutine at a time calls it. If it returns an error, the search
	// ends and returns this error. To interrupt a training, set Interrupt in its parameters.
	Progress func(done, total int) error
}

// Cell is one point of a grid.
type Cell struct {
	Kernel  int       // index into Search.Kernels
	Setting int       // index of the setting, below Learner.Settings()
	Scores  []float64 // score of each fold
	Mean    float64   // mean of the scores, with equal weight for each fold
	Correct int       // number of test rows of all folds with a correct class
}

// Result holds the outcome of a search.
type Result struct {
	Cells []Cell // ordered by kernel, and for each kernel by setting
	Best  int    // index of the cell with the highest mean; of equal means, the first
	// Outputs holds the outputs of one cell on the test rows of each fold: the best cell, or the cell
	// that was requested.
	Outputs []linalg.Matrix[float64]
}

// Run cross-validates the grid on rows whose linear Gram matrix is dot (n x n, symmetric). It does
// not change dot. It takes 8 n^2 bytes in addition.
func (s Search) Run(dot linalg.Matrix[float64]) (*Result, error) {
	return s.RunOn(dot.Rows, materialized(dot))
}

// RunFor is like [Search.Run] but returns the outputs of the given cell instead of the best one. It
// serves to compare two searches of the same grid.
func (s Search) RunFor(dot linalg.Matrix[float64], cell int) (*Result, error) {
	return s.RunOnFor(dot.Rows, materialized(dot), cell)
}

// RunOn is like [Search.Run], but the caller supplies the kernel matrices. The function matrix
// returns the n x n matrix of a kernel. RunOn calls the function for one kernel at a time. A matrix
// can compute its values on request, like a kernel.Lazy.
func (s Search) RunOn(n int, matrix func(kernel.Kernel) kernel.Source) (*Result, error) {
	return s.run(n, matrix, -1)
}

// RunOnFor is like [Search.RunOn], but returns the outputs of the given cell instead of the best
// one.
func (s Search) RunOnFor(n int, matrix func(kernel.Kernel) kernel.Source, cell int) (*Result, error) {
	if total := len(s.Kernels) * s.Learner.Settings(); cell < 0 || cell >= total {
		return nil, fmt.Errorf("tune: the index of the requested cell is %d; it must be at least 0 and below %d", cell, total)
	}
	return s.run(n, matrix, cell)
}

// materialized returns a function that computes kernel matrices for [Search.RunOn] from the Gram
// matrix dot. All matrices use the same memory.
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
		folds, err := s.known(i, tried)
		if err == nil && slices.ContainsFunc(folds, missing) {
			err = s.tryFolds(matrix(k), folds, tried)
		}
		if err != nil {
			return nil, fmt.Errorf("tune: kernel %d, %s: %w", i+1, k.Name(), err)
		}
		for setting := range s.Learner.Settings() {
			r.addCell(i, setting, folds, wanted)
		}
	}
	return r, nil
}

// counter returns a function that counts finished trials and calls Progress.
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

// Trier returns a function that computes the trials of one kernel and one fold, counted from 0, as
// [Search.Run] does for all of them. The argument dot is the linear Gram matrix, which the function
// does not change. It takes 8 n^2 bytes in addition, and keeps them: the matrix of a kernel is
// computed once for consecutive calls. It must not be called by two goroutines at a time.
func (s Search) Trier(dot linalg.Matrix[float64]) (func(k, fold int) ([]Trial, error), error) {
	if err := s.check(dot.Rows); err != nil {
		return nil, err
	}
	matrix, last, of := materialized(dot), -1, kernel.Source(nil)
	return func(k, fold int) ([]Trial, error) {
		if k < 0 || k >= len(s.Kernels) || fold < 0 || fold >= len(s.Folds) {
			return nil, fmt.Errorf("tune: the search has no kernel %d with fold %d; it has %d kernels and %d folds", k+1, fold+1, len(s.Kernels), len(s.Folds))
		}
		if k != last {
			last, of = k, matrix(s.Kernels[k])
		}
		trials, err := s.tryFold(of, fold, func() error { return nil })
		if err != nil {
			return nil, fmt.Errorf("tune: kernel %d, %s: fold %d: %w", k+1, s.Kernels[k].Name(), fold+1, err)
		}
		return trials, nil
	}, nil
}

// known returns the trials of every fold with one kernel that another process has computed. The
// trials of other folds are nil.
func (s Search) known(k int, tried func() error) ([][]Trial, error) {
	folds := make([][]Trial, len(s.Folds))
	if s.Known == nil {
		return folds, nil
	}
	for f := range folds {
		folds[f] = s.Known(k, f)
		for range folds[f] {
			if err := tried(); err != nil {
				return nil, err
			}
		}
	}
	return folds, nil
}

func missing(trials []Trial) bool { return trials == nil }

// tryFolds computes the missing trials of every fold with one kernel. If several folds fail, it
// returns the first fold's error.
func (s Search) tryFolds(k kernel.Source, trials [][]Trial, tried func() error) error {
	failed := make([]error, len(s.Folds))
	linalg.For(len(s.Folds), 1, func(f, _ int) {
		if missing(trials[f]) {
			trials[f], failed[f] = s.tryFold(k, f, tried)
		}
	})
	for f, err := range failed {
		if err != nil {
			return fmt.Errorf("fold %d: %w", f+1, err)
		}
	}
	return nil
}

// tryFold computes the trials of one fold with one kernel.
func (s Search) tryFold(k kernel.Source, f int, tried func() error) ([]Trial, error) {
	trials, err := s.Learner.Try(k, s.Folds[f], tried)
	if err == nil && len(trials) != s.Learner.Settings() {
		err = fmt.Errorf("the learner made %d trials for %d settings; it must make one for each", len(trials), s.Learner.Settings())
	}
	return trials, err
}

// addCell appends the cell of one kernel and setting. The argument wanted is the index of the cell
// whose outputs r holds, or negative for the best cell. addCell adds scores in the order of the
// folds.
func (r *Result) addCell(k, setting int, folds [][]Trial, wanted int) {
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

// check returns an error if the grid is invalid for n rows.
func (s Search) check(n int) error {
	switch {
	case len(s.Kernels) == 0:
		return errors.New("tune: there are no kernels; give at least one")
	case s.Learner.Settings() < 1:
		return errors.New("tune: the learner has no settings; give at least one")
	case len(s.Folds) < 2:
		return fmt.Errorf("tune: there are %d folds; give at least two", len(s.Folds))
	}
	for i, f := range s.Folds {
		if err := f.check(n); err != nil {
			return fmt.Errorf("tune: fold %d: %w", i+1, err)
		}
	}
	return nil
}

// check returns an error unless both lists of rows ascend, stay below n and share no row.
func (f Fold) check(n int) error {
	trains := make([]bool, n)
	for _, part := range []struct {
		name string
		rows []int
	}{{"training", f.Train}, {"test", f.Test}} {
		if len(part.rows) == 0 {
			return fmt.Errorf("there are no %s rows; use fewer folds", part.name)
		}
		last := -1
		for _, r := range part.rows {
			switch {
			case r <= last || r >= n:
				return fmt.Errorf("row %d follows row %d; rows must increase and be below %d in the list of %s rows", r, last, n, part.name)
			case part.name == "test" && trains[r]:
				return fmt.Errorf("row %d is in both lists, for training and for testing; remove it from one", r)
			}
			trains[r] = true
			last = r
		}
	}
	return nil
}
