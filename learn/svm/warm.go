package svm

import (
	"errors"
	"slices"

	"github.com/mercer-fl/mercer/kernel"
)

// TrainSVCFrom is [TrainSVC] that starts from start, a classifier that was
// trained on the same rows, codes and classes with another C, other weights or
// another kernel (D. DeCoste, K. Wagstaff, Alpha seeding for support vector
// machines, KDD 2000). It ends within Tol of the optimum that TrainSVC finds,
// in fewer iterations when the two problems are near: along a grid go from the
// smallest C to the largest, where the start stays as it is.
func TrainSVCFrom(start *Classifier, src kernel.Source, codes []int, classes []string, p Params, progress func(done, total int) error) (*Classifier, error) {
	t, err := newSVC(src, codes, classes, p, progress)
	if err != nil {
		return nil, err
	}
	if t.starts, err = start.coefficients(t); err != nil {
		return nil, err
	}
	return t.run()
}

// errStart is a classifier that is not from these rows.
var errStart = errors.New("svm: the classifier to start from was not trained on these rows, codes and classes")

// coefficients returns a feasible start of every pair of t.
func (c *Classifier) coefficients(t *trainer) ([][]float64, error) {
	if c.rows != t.source.Len() || !slices.Equal(c.Classes, t.classes) {
		return nil, errStart
	}
	starts := make([][]float64, len(t.pairs))
	for k := range t.pairs {
		rows, first := merge(t.rows[c.Pairs[k].First], t.rows[c.Pairs[k].Second])
		b, err := c.spread(k, rows)
		if err != nil {
			return nil, err
		}
		cFirst, cSecond := t.bounds(k)
		if err := fit(b, first, cFirst, cSecond); err != nil {
			return nil, err
		}
		starts[k] = b
	}
	return starts, nil
}

// spread returns the coefficients of pair k, one per row of the pair.
func (c *Classifier) spread(k int, rows []int) ([]float64, error) {
	b := make([]float64, len(rows))
	for i, s := range c.Pairs[k].Index {
		at, ok := slices.BinarySearch(rows, c.support[s])
		if !ok {
			return nil, errStart
		}
		b[at] = c.Pairs[k].Coef[i]
	}
	return b, nil
}

// fit cuts coefficients at the bounds of their classes and, where that takes
// more from one class, scales the other down until their sum is 0 again.
func fit(b []float64, first []bool, cFirst, cSecond float64) error {
	var positive, negative float64
	cut := false
	for i, v := range b {
		if v != 0 && v > 0 != first[i] {
			return errStart
		}
		b[i] = max(-cSecond, min(v, cFirst))
		cut = cut || b[i] != v
		if first[i] {
			positive += b[i]
		} else {
			negative -= b[i]
		}
	}
	if !cut {
		return nil
	}
	least := min(positive, negative)
	for i, is := range first {
		switch {
		case is && positive > least:
			b[i] *= least / positive
		case !is && negative > least:
			b[i] *= least / negative
		}
	}
	return nil
}
