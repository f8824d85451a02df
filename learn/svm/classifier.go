package svm

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// Classifier is a trained C-SVC or nu-SVC. It has one machine per pair of classes, over a common list of
// support vectors. It holds no rows; package model stores them. It is read only and safe for
// concurrent use.
type Classifier struct {
	Classes []string // class names by class code
	Pairs   []Pair   // machines in the order (0,1), (0,2), ..., (0,c-1), (1,2), ..., (c-2,c-1)

	support []int
	rows    int // number of training rows, or 0 if unknown
}

// Pair is the machine for two classes, f(x) = sum_k Coef[k] K(x, sv[Index[k]]) - Rho. A positive
// f(x) is a vote for the class First.
type Pair struct {
	First, Second int       // codes of the classes, First < Second
	Index         []int     // positions in Support, ascending
	Coef          []float64 // alpha for rows of First, -alpha for rows of Second; never 0
	Rho           float64
	Report        Report // final state of the training, or zero if it is not known
}

// Report describes the state in which the training of a machine ended.
type Report struct {
	Objective  float64 // value of the dual objective, for C-SVC 1/2 a'Qa - sum a
	Gap        float64 // remaining violation of optimality, LIBSVM's m(alpha) - M(alpha); at most Tol after convergence
	Iterations int
	Support    int // number of coefficients that are not 0
	Bounded    int // number of coefficients at a bound other than 0, for C-SVC C times the weights of the class and the row
	// Margin is the multiplier of the constraint on nu. For nu-SVC it is 1/C of the C-SVC with the same
	// solution, for nu-SVR minus the half width of the tube. It is 0 for other machines.
	Margin float64
}

// pairCount returns the number of pairs of c classes.
func pairCount(c int) int { return c * (c - 1) / 2 }

// NewClassifier returns a classifier with the given classes and machines. Its support vectors are
// numbered from 0 to vectors - 1. It sets First and Second of the pairs and keeps the slices. It
// refuses values that training cannot produce, such as a wrong number of pairs, indices that do not
// ascend, or coefficients that are 0 or not finite.
func NewClassifier(classes []string, pairs []Pair, vectors int) (*Classifier, error) {
	if err := checkClasses(classes); err != nil {
		return nil, err
	}
	if vectors < 0 {
		return nil, fmt.Errorf("svm: there are %d support vectors, but there must be 0 or more", vectors)
	}
	if len(pairs) != pairCount(len(classes)) {
		return nil, fmt.Errorf("svm: there are %d pairs for %d classes, but there must be %d", len(pairs), len(classes), pairCount(len(classes)))
	}
	c := &Classifier{Classes: classes, Pairs: pairs, support: make([]int, vectors)}
	for s := range c.support {
		c.support[s] = s
	}
	k := 0
	for i := range classes {
		for j := i + 1; j < len(classes); j++ {
			p := &pairs[k]
			p.First, p.Second = i, j
			if err := p.check(vectors); err != nil {
				return nil, fmt.Errorf("svm: classes %q and %q: %w", classes[i], classes[j], err)
			}
			k++
		}
	}
	return c, nil
}

func (p *Pair) check(vectors int) error {
	if len(p.Index) != len(p.Coef) {
		return fmt.Errorf("there are %d indices for %d coefficients; the numbers must be equal", len(p.Index), len(p.Coef))
	}
	if p.Rho-p.Rho != 0 {
		return fmt.Errorf("rho is %v; it must be finite", p.Rho)
	}
	last := -1
	for k, s := range p.Index {
		if s <= last || s >= vectors {
			return fmt.Errorf("support vector index %d follows index %d; indices must increase and be below %d", s, last, vectors)
		}
		if v := p.Coef[k]; v == 0 || v-v != 0 {
			return fmt.Errorf("coefficient %d is %v; it must be finite and not 0", k, v)
		}
		last = s
	}
	return nil
}

// Support returns the training rows that are support vectors of any pair, ascending. After
// [Classifier.Compact] and [NewClassifier], the rows are 0 to s-1. The caller must not change it.
func (c *Classifier) Support() []int { return c.support }

// Compact returns the classifier in the form that a model file stores. It has no reports, and its
// support vectors are numbered from 0 in the order of Support. It shares memory with c.
func (c *Classifier) Compact() *Classifier {
	out := &Classifier{Classes: c.Classes, Pairs: make([]Pair, len(c.Pairs)), support: make([]int, len(c.support))}
	copy(out.Pairs, c.Pairs)
	for k := range out.Pairs {
		out.Pairs[k].Report = Report{}
	}
	for s := range out.support {
		out.support[s] = s
	}
	return out
}

// Decisions returns f(x) of every pair for each row, as rows x pairs. The matrix cross is the
// kernel of the rows with the support vectors, rows x len(Support()), in that order; another width
// is a mistake of the program and panics.
func (c *Classifier) Decisions(cross linalg.Matrix[float64]) linalg.Matrix[float64] {
	if cross.Cols != len(c.support) {
		panic(fmt.Sprintf("svm: a cross kernel of %d columns for %d support vectors", cross.Cols, len(c.support)))
	}
	out := linalg.New[float64](cross.Rows, len(c.Pairs))
	linalg.For(cross.Rows, 64, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			for k := range c.Pairs {
				out.Row(r)[k] = c.Pairs[k].decide(cross.Row(r))
			}
		}
	})
	return out
}

func (p *Pair) decide(cross []float64) float64 {
	sum := 0.0
	for k, s := range p.Index {
		sum += p.Coef[k] * cross[s]
	}
	return sum - p.Rho
}

// Predict returns the class code of each row by the vote of all pairs. The class with most votes
// wins, and the lowest code among equals, as in LIBSVM. A decision of exactly 0 is a vote for the
// second class.
func (c *Classifier) Predict(decisions linalg.Matrix[float64]) []int {
	if decisions.Cols != len(c.Pairs) {
		panic(fmt.Sprintf("svm: %d decisions for %d pairs of classes", decisions.Cols, len(c.Pairs)))
	}
	codes := make([]int, decisions.Rows)
	votes := make([]int, len(c.Classes))
	for r := range codes {
		codes[r] = c.vote(decisions.Row(r), votes)
	}
	return codes
}

func (c *Classifier) vote(decisions []float64, votes []int) int {
	clear(votes)
	for k, f := range decisions {
		if f > 0 {
			votes[c.Pairs[k].First]++
		} else {
			votes[c.Pairs[k].Second]++
		}
	}
	best := 0
	for code, n := range votes {
		if n > votes[best] {
			best = code
		}
	}
	return best
}

// TrainSVCFrom is like [TrainSVC] but begins with the coefficients of another classifier. That
// classifier, start, was trained on the same rows, codes and classes with another C, other weights
// or another kernel (DeCoste and Wagstaff, Alpha seeding for support vector machines, KDD 2000). It
// ends within Tol of the optimum of TrainSVC, in fewer iterations if the two problems are similar.
// Along a grid, go from the smallest C to the largest: then each start is within the bounds.
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

// errStart reports a start classifier that was not trained on the same rows, codes and classes.
var errStart = errors.New("svm: the classifier to start from was not trained on these rows, codes and classes")

// coefficients returns initial coefficients for every pair that t trains. They meet the constraints
// of t.
func (c *Classifier) coefficients(t *trainer) ([][]float64, error) {
	if c.rows != t.source.Len() || !slices.Equal(c.Classes, t.classes) {
		return nil, errStart
	}
	starts := make([][]float64, len(t.pairs))
	for k := range t.pairs {
		d := t.pairRows(k)
		b, err := c.denseCoefficients(k, d.rows, t.weights)
		if err != nil {
			return nil, err
		}
		if err := clip(b, d.first, t.problem(k, d)); err != nil {
			return nil, err
		}
		starts[k] = b
	}
	return starts, nil
}

// denseCoefficients returns a coefficient of pair k for each of the given rows, zeros included. Rows
// of weight 0 lose their coefficients; weights has a weight for each training row.
func (c *Classifier) denseCoefficients(k int, rows []int, weights []float64) ([]float64, error) {
	b := make([]float64, len(rows))
	for i, s := range c.Pairs[k].Index {
		row := c.support[s]
		if weights[row] == 0 {
			continue
		}
		at, ok := slices.BinarySearch(rows, row)
		if !ok {
			return nil, errStart
		}
		b[at] = c.Pairs[k].Coef[i]
	}
	return b, nil
}

// rounding is the largest share by which two equal sums of coefficients differ.
const rounding = 0x1p-40

// clip reduces the coefficients of a pair to the bounds of the problem p. If one class then has a
// smaller sum than the other, clip scales the other class down until the sum of all coefficients is
// 0 again.
func clip(b []float64, first []bool, p problem) error {
	var positive, negative float64
	for i, v := range b {
		if v != 0 && v > 0 != first[i] {
			return errStart
		}
		b[i] = max(p.lower[i], min(v, p.upper[i]))
		if first[i] {
			positive += b[i]
		} else {
			negative -= b[i]
		}
	}
	least := min(positive, negative)
	if max(positive, negative)-least <= rounding*least {
		return nil // nothing was reduced
	}
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
