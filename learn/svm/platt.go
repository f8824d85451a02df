package svm

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// plattFolds is the number of folds of the internal cross-validation, as in LIBSVM.
const plattFolds = 5

// Sigmoid turns the decision f of a pair into a probability of the pair's first class. The
// probability is 1 / (1 + exp(A f + B)).
type Sigmoid struct{ A, B float64 }

// Probability returns the probability of the first class for a decision f.
func (s Sigmoid) Probability(f float64) float64 {
	v := s.A*f + s.B
	if v >= 0 { // exp of a large number would overflow
		e := math.Exp(-v)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(v))
}

// Calibration computes class probabilities from the decisions of a [Classifier]. It is read only
// and safe for concurrent use.
type Calibration struct {
	Classes  int
	Sigmoids []Sigmoid // sigmoid of each pair, in the order of Classifier.Pairs
	// Tol is the tolerance at which the coupling of the pairs stops. 0 means 1e-10; LIBSVM has 0.005.
	Tol float64
}

// Calibrate fits the sigmoid of every pair (Platt 1999) to decisions on rows that were not used for
// training the machine. It leaves out five folds of the pair's rows in turn, as in LIBSVM. The
// folds hold the classes in equal shares and depend on seed, the pair and its rows only. The other
// arguments and the errors are those of [TrainSVC]; if a training or the fit of a sigmoid does not converge,
// the calibration comes beside an error that wraps [ErrNotConverged]. Calibrate usually takes three to four times as
// long as TrainSVC.
func Calibrate(src kernel.Source, codes []int, classes []string, p Params, seed uint64) (*Calibration, error) {
	t, err := newSVC(src, codes, classes, p, nil)
	if err != nil {
		return nil, err
	}
	return t.calibration(seed)
}

// CalibrateNuSVC is like [Calibrate] for the arguments of [TrainNuSVC].
func CalibrateNuSVC(src kernel.Source, codes []int, classes []string, p NuParams, seed uint64) (*Calibration, error) {
	t, err := newNuSVC(src, codes, classes, p, nil)
	if err != nil {
		return nil, err
	}
	return t.calibration(seed)
}

// calibration fits the sigmoids of all pairs.
func (t *trainer) calibration(seed uint64) (*Calibration, error) {
	c := &Calibration{Classes: len(t.classes), Sigmoids: make([]Sigmoid, len(t.pairs))}
	linalg.For(len(t.pairs), 1, func(k, _ int) { t.calibrate(k, &c.Sigmoids[k], seed) })
	if t.err != nil {
		return nil, t.err
	}
	return c, t.unconverged
}

// calibrate fits the sigmoid of pair k and stores it in dst. It trains with the settings of the
// machine of pair k.
func (t *trainer) calibrate(k int, dst *Sigmoid, seed uint64) {
	if t.skip(k) {
		return
	}
	d := t.pairRows(k)
	t.pairs[k].rows = d.rows
	f, err := t.heldOutDecisions(k, d, folds(d.first, seed, uint64(k)))
	if !leavesNothing(err) {
		var failed error
		*dst, failed = FitSigmoid(f, d.first)
		err = cmp.Or(failed, err)
	}
	t.finish(k, err)
}

// folds returns the index of the fold of each row. It shuffles the rows of each class and deals
// them to the folds one by one.
func folds(first []bool, seed, pair uint64) []int {
	rng := rand.New(rand.NewPCG(seed, pair))
	order, split := sides(first)
	rng.Shuffle(split, func(i, j int) { order[i], order[j] = order[j], order[i] })
	rng.Shuffle(len(order)-split, func(i, j int) { i, j = i+split, j+split; order[i], order[j] = order[j], order[i] })
	fold := make([]int, len(first))
	for a, i := range order {
		fold[i] = a % plattFolds
	}
	return fold
}

// heldOutDecisions returns the decision on each row by a machine that is trained on the other
// folds. If some of these machines did not converge, the error of the first comes beside all
// decisions.
func (t *trainer) heldOutDecisions(pair int, d twoClasses, fold []int) ([]float64, error) {
	out := make([]float64, len(d.first))
	var unconverged error
	for f := range plattFolds {
		var train, held []int
		for i, g := range fold {
			if g == f {
				held = append(held, i)
			} else {
				train = append(train, i)
			}
		}
		if len(held) == 0 {
			continue
		}
		values, err := t.decideHeldOut(pair, d, train, held)
		if leavesNothing(err) {
			return nil, err
		}
		unconverged = cmp.Or(unconverged, err)
		for a, i := range held {
			out[i] = values[a]
		}
	}
	return out, unconverged
}

// decideHeldOut trains a machine on some rows of a pair and returns its decisions on the held-out
// rows. If all training rows are of one class, every decision is 1 or -1, for that class, as in
// LIBSVM. If the training did not converge, its error comes beside the decisions.
func (t *trainer) decideHeldOut(pair int, d twoClasses, train, held []int) ([]float64, error) {
	some := d.of(train)
	if v, only := oneSided(some.first); only {
		out := make([]float64, len(held))
		for a := range out {
			out[a] = v
		}
		return out, nil
	}
	s, err := t.solvePair(pair, some, t.params.stopping(len(train)))
	if leavesNothing(err) {
		return nil, renumber(err, train)
	}
	m, out := newMachine(s.coef, s), make([]float64, len(held))
	kernel.Blocks(d.source, held, linalg.At(train, m.Support), func(lo int, cross linalg.Matrix[float64]) { copy(out[lo:], m.Decisions(cross)) })
	return out, err
}

// oneSided returns the constant decision for rows of a single class. It returns false if both
// classes occur.
func oneSided(first []bool) (float64, bool) {
	count := 0
	for _, is := range first {
		if is {
			count++
		}
	}
	switch count {
	case len(first):
		return 1, true
	case 0:
		return -1, true
	}
	return 0, false
}

// Probabilities returns the probability of every class for each row. The result is rows x Classes,
// with the sum 1 in each row. The matrix decisions is the result of [Classifier.Decisions], rows x
// pairs; another width panics.
func (c *Calibration) Probabilities(decisions linalg.Matrix[float64]) linalg.Matrix[float64] {
	if decisions.Cols != len(c.Sigmoids) {
		panic(fmt.Sprintf("svm: %d decisions for %d pairs of classes", decisions.Cols, len(c.Sigmoids)))
	}
	out, tol := linalg.New[float64](decisions.Rows, c.Classes), cmp.Or(c.Tol, 1e-10)
	linalg.For(decisions.Rows, 64, func(lo, hi int) {
		r := linalg.New[float64](c.Classes, c.Classes)
		for i := lo; i < hi; i++ {
			c.pairwise(r, decisions.Row(i))
			couple(out.Row(i), r, tol)
		}
	})
	return out
}

// pairwise sets r(i, j) to the probability of class i given that the class is i or j. It keeps
// probabilities away from 0 and 1, as in LIBSVM.
func (c *Calibration) pairwise(r linalg.Matrix[float64], decisions []float64) {
	const least = 1e-7
	k := 0
	for i := range c.Classes {
		for j := i + 1; j < c.Classes; j++ {
			p := min(max(c.Sigmoids[k].Probability(decisions[k]), least), 1-least)
			r.Row(i)[j], r.Row(j)[i] = p, 1-p
			k++
		}
	}
}
