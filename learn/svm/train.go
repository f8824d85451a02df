package svm

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// TrainSVC trains a C-SVC for every pair of classes. Row r of src belongs to classes[codes[r]];
// every class needs a row of a weight above 0. The pairs run on all cores; the result depends on src, codes,
// classes, C, Tol, Weights, RowWeights and MaxIter only. progress, if not nil, is called after each pair, never
// by two goroutines at once. If progress returns an error, the training ends and returns this error.
//
// Every kernel value that is read is checked: NaN and infinities are errors. If pairs reach MaxIter,
// the classifier comes beside an error that wraps [ErrNotConverged] and names the first such pair.
func TrainSVC(src kernel.Source, codes []int, classes []string, p Params, progress func(done, total int) error) (*Classifier, error) {
	t, err := newSVC(src, codes, classes, p, progress)
	if err != nil {
		return nil, err
	}
	return t.run()
}

// newSVC returns a trainer for a C-SVC that starts from zero coefficients.
func newSVC(src kernel.Source, codes []int, classes []string, p Params, progress func(done, total int) error) (*trainer, error) {
	weights, err := rowWeights(src.Len(), p.RowWeights)
	if err != nil {
		return nil, err
	}
	if err := checkLabels(weights, codes, classes); err != nil {
		return nil, err
	}
	if err := p.Validate(classes); err != nil {
		return nil, err
	}
	t := newTrainer(src, codes, classes, p.filled(), weights, progress)
	t.starts = make([][]float64, len(t.pairs))
	t.solvePair = func(k int, d twoClasses, stop stopping) (solution, error) {
		q := t.problem(k, d)
		q.start = t.starts[k]
		return solve(q, stop, t.cache)
	}
	return t, nil
}

// problem returns the problem of pair k of a C-SVC, over the rows of d.
func (t *trainer) problem(k int, d twoClasses) problem {
	q := &t.pairs[k]
	p := cSVC(d.source, d.first, t.params.bound(t.classes[q.first]), t.params.bound(t.classes[q.second]))
	p.weigh(d.weights)
	return p
}

// checkLabels checks that there is one class code and one weight for each row, and that each class
// has a row with a weight above 0.
func checkLabels(weights []float64, codes []int, classes []string) error {
	n := len(weights)
	if len(codes) != n {
		return fmt.Errorf("svm: there are %d class codes for %d kernel rows; the numbers must be equal", len(codes), n)
	}
	if err := checkClasses(classes); err != nil {
		return err
	}
	rows, weight := make([]int, len(classes)), make([]float64, len(classes))
	for r, code := range codes {
		if code < 0 || code >= len(classes) {
			return fmt.Errorf("svm: row %d has class code %d, but there are %d classes", r, code, len(classes))
		}
		rows[code]++
		weight[code] += weights[r]
	}
	for code, count := range rows {
		switch {
		case count == 0:
			return fmt.Errorf("svm: class %q has no training rows: leave it out of the classes or add rows", classes[code])
		case weight[code] == 0:
			return fmt.Errorf("svm: no training row of class %q has a weight above 0: leave the class out or give its rows weights", classes[code])
		}
	}
	return nil
}

func checkClasses(classes []string) error {
	switch {
	case len(classes) == 1:
		return fmt.Errorf("svm: there is only the class %q: a classifier needs rows of at least two classes", classes[0])
	case len(classes) == 0:
		return errors.New("svm: there are no classes: a classifier needs rows of at least two classes")
	case len(classes) > MaxClasses:
		return fmt.Errorf("svm: there are %d classes, at most %d are allowed: if the labels are numbers to predict, use a regression", len(classes), MaxClasses)
	}
	seen := make(map[string]bool, len(classes))
	for _, class := range classes {
		if seen[class] {
			return fmt.Errorf("svm: class %q is listed twice", class)
		}
		seen[class] = true
	}
	return nil
}

// trainer trains the machines of all pairs of classes.
type trainer struct {
	source  kernel.Source
	classes []string
	params  Params
	weights []float64 // weight of each training row, at least 0
	rows    [][]int   // rows of each class with a weight above 0, ascending
	pairs   []pair
	cache   int64 // bytes of the cache for one pair
	// solvePair solves the problem of pair k.
	solvePair func(k int, d twoClasses, stop stopping) (solution, error)
	starts    [][]float64 // initial coefficients of a C-SVC for each pair; nil means zeros

	mu       sync.Mutex
	done     int
	progress func(done, total int) error
	err      error // error of the first failed pair, which has the index failed; or of progress, failed being -1
	failed   int
	// unconverged is the error of the first pair that did not converge. That pair has the index late.
	unconverged error
	late        int
}

// twoClasses are the rows on which one pair of classes is trained.
type twoClasses struct {
	rows    []int // row numbers in the training set, ascending
	source  kernel.Source
	first   []bool    // whether the row belongs to the pair's first class
	weights []float64 // weight of each row, above 0
}

// of returns the given rows of d.
func (d twoClasses) of(rows []int) twoClasses {
	return twoClasses{linalg.At(d.rows, rows), kernel.Subset(d.source, rows), linalg.At(d.first, rows), linalg.At(d.weights, rows)}
}

// pair is the two-class machine of one pair of classes.
type pair struct {
	first, second int
	rows          []int // rows of the training set, ascending
	solution      solution
}

func newTrainer(src kernel.Source, codes []int, classes []string, p Params, weights []float64, progress func(done, total int) error) *trainer {
	t := &trainer{source: src, classes: classes, params: p, weights: weights, progress: progress, rows: make([][]int, len(classes))}
	for r, code := range codes {
		if weights[r] > 0 {
			t.rows[code] = append(t.rows[code], r)
		}
	}
	t.pairs = make([]pair, 0, pairCount(len(classes)))
	for i := range classes {
		for j := i + 1; j < len(classes); j++ {
			t.pairs = append(t.pairs, pair{first: i, second: j})
		}
	}
	t.failed, t.late = len(t.pairs), len(t.pairs)
	t.cache = p.CacheBytes / int64(min(len(t.pairs), runtime.GOMAXPROCS(0)))
	return t
}

// run trains the machines of all pairs. If some did not converge, it returns the classifier and the
// error of the first of them.
func (t *trainer) run() (*Classifier, error) {
	linalg.For(len(t.pairs), 1, func(k, _ int) { t.train(k) })
	if t.err != nil {
		return nil, t.err
	}
	return t.classifier(), t.unconverged
}

// train trains pair k unless an earlier pair has failed. So the reported error is the error of the
// first pair that fails, unless progress fails.
func (t *trainer) train(k int) {
	if t.skip(k) {
		return
	}
	d, q := t.pairRows(k), &t.pairs[k]
	s, err := t.solvePair(k, d, t.params.stopping(len(d.rows)))
	q.rows, q.solution = d.rows, s
	t.finish(k, err)
}

// pairRows returns the rows of pair k.
func (t *trainer) pairRows(k int) twoClasses {
	rows, first := merge(t.rows[t.pairs[k].first], t.rows[t.pairs[k].second])
	d := twoClasses{rows: rows, source: t.source, first: first, weights: linalg.At(t.weights, rows)}
	if len(rows) < t.source.Len() {
		d.source = kernel.Subset(t.source, rows)
	}
	return d
}

// merge merges two ascending lists of rows. The result fromA tells for each row whether it comes
// from a.
func merge(a, b []int) (rows []int, fromA []bool) {
	rows, fromA = make([]int, 0, len(a)+len(b)), make([]bool, 0, len(a)+len(b))
	for len(a)+len(b) > 0 {
		if len(b) == 0 || len(a) > 0 && a[0] < b[0] {
			rows, fromA, a = append(rows, a[0]), append(fromA, true), a[1:]
		} else {
			rows, fromA, b = append(rows, b[0]), append(fromA, false), b[1:]
		}
	}
	return rows, fromA
}

func (t *trainer) skip(k int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return k > t.failed
}

func (t *trainer) finish(k int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case errors.Is(err, ErrNotConverged):
		if k < t.late {
			t.late, t.unconverged = k, t.describe(k, err)
		}
	case err != nil:
		if k < t.failed {
			t.failed, t.err = k, t.describe(k, err)
		}
		return
	}
	if t.done++; t.progress == nil || t.failed < 0 {
		return
	}
	if err := t.progress(t.done, len(t.pairs)); err != nil {
		t.failed, t.err = -1, err // -1 makes skip return true for every pair
	}
}

// describe adds the names of the pair's classes to an error. It also replaces the row number in the
// error by that row's number in the kernel matrix.
func (t *trainer) describe(k int, err error) error {
	q := t.pairs[k]
	err = renumber(err, q.rows)
	return fmt.Errorf("svm: classes %q and %q: %w", t.classes[q.first], t.classes[q.second], err)
}

// renumber replaces row number i in an error by rows[i]. The rows are the rows of a subset.
func renumber(err error, rows []int) error {
	if v, ok := errors.AsType[*valueError](err); ok {
		return &valueError{row: rows[v.row], col: rows[v.col], value: v.value}
	}
	return err
}

// classifier returns the classifier that consists of all pairs' solutions.
func (t *trainer) classifier() *Classifier {
	c := &Classifier{Classes: append([]string(nil), t.classes...), Pairs: make([]Pair, len(t.pairs)), rows: t.source.Len()}
	position := t.supportVectors(c)
	for k, q := range t.pairs {
		p := Pair{First: q.first, Second: q.second, Rho: q.solution.rho}
		for i, b := range q.solution.coef {
			if b != 0 {
				p.Index = append(p.Index, position[q.rows[i]])
				p.Coef = append(p.Coef, b)
			}
		}
		p.Report = q.solution.report()
		c.Pairs[k] = p
	}
	return c
}

// supportVectors stores the list of support vectors in c. It returns the position of each training
// row in that list, or -1.
func (t *trainer) supportVectors(c *Classifier) []int {
	position := make([]int, t.source.Len())
	for _, q := range t.pairs {
		for i, b := range q.solution.coef {
			if b != 0 {
				position[q.rows[i]] = 1
			}
		}
	}
	for r, used := range position {
		position[r] = -1
		if used == 1 {
			position[r] = len(c.support)
			c.support = append(c.support, r)
		}
	}
	return position
}
