package svm

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// rowWeights returns the weight of each of n rows: 1 if weights is nil, 0 if a weight is negative.
func rowWeights(n int, weights []float64) ([]float64, error) {
	out := make([]float64, n)
	if weights == nil {
		for i := range out {
			out[i] = 1
		}
		return out, nil
	}
	if len(weights) != n {
		return nil, fmt.Errorf("svm: there are %d row weights for %d kernel rows; the numbers must be equal", len(weights), n)
	}
	for i, w := range weights {
		if w-w != 0 {
			return nil, fmt.Errorf("svm: the weight of row %d is %v; a weight must be finite", i, w)
		}
		out[i] = max(w, 0)
	}
	return out, nil
}

// errNoRows reports a kernel without rows.
var errNoRows = errors.New("svm: there are no rows to learn from")

// errNoWeight reports rows that are all left out.
var errNoWeight = errors.New("svm: no row has a weight above 0, so that there are no rows to learn from")

// weighted is the part of a training set that has weights above 0.
type weighted struct {
	source  kernel.Source
	rows    []int     // row numbers in the whole training set, ascending
	weights []float64 // weight of each row of source
}

// leaveOut leaves out the rows of src that have no weight above 0.
func leaveOut(src kernel.Source, weights []float64) (weighted, error) {
	all, err := rowWeights(src.Len(), weights)
	if err != nil {
		return weighted{}, err
	}
	w := weighted{source: src}
	for i, v := range all {
		if v > 0 {
			w.rows, w.weights = append(w.rows, i), append(w.weights, v)
		}
	}
	switch len(w.rows) {
	case 0:
		return weighted{}, errNoWeight
	case src.Len():
		return w, nil
	}
	w.source = kernel.Subset(src, w.rows)
	return w, nil
}

// machine makes a machine of coefficients for the rows of w. Its support vectors are rows of the
// whole training set.
func (w weighted) machine(coef []float64, s solution) *Machine {
	m := newMachine(coef, s)
	m.Support = linalg.At(w.rows, m.Support)
	return m
}

// describe adds the package's name to an error of the solver, and numbers rows as the whole training
// set does. The solver's problem has the rows of w once, or twice in a row. describe returns nil for
// no error.
func (w weighted) describe(err error) error {
	if err == nil {
		return nil
	}
	if v, ok := errors.AsType[*valueError](err); ok {
		n := len(w.rows)
		err = &valueError{row: w.rows[v.row%n], col: w.rows[v.col%n], value: v.value}
	}
	return fmt.Errorf("svm: %w", err)
}

// leavesNothing reports whether an error of the solver leaves no solution.
func leavesNothing(err error) bool { return err != nil && !errors.Is(err, ErrNotConverged) }

// of returns the values of v for the rows of w. There is one value in v for each row of the whole
// training set.
func (w weighted) of(v []float64) []float64 { return linalg.At(v, w.rows) }

// checkPrice checks C. Infinity is allowed: it makes the margin hard.
func checkPrice(c float64) error {
	if !(c > 0) {
		return fmt.Errorf("svm: C is %v; it must be above 0", c)
	}
	return nil
}

// countBounded returns the number of coefficients at a bound of the size C times the weight.
func countBounded(coef, weights []float64, c float64) int {
	count := 0
	for i, b := range coef {
		if math.Abs(b) >= c*weights[i] {
			count++
		}
	}
	return count
}
