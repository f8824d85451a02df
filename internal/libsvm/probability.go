package libsvm

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// internalFolds is the number of folds of the cross-validations for probabilities and noise.
const internalFolds = 5

// coupling is the tolerance at which LIBSVM stops the coupling of pairs.
const coupling = 0.005

// calibrate fits a sigmoid for each pair of classes to decisions on rows that were left out (Platt
// 1999). It draws the folds of a pair after those of all earlier pairs.
func (t *trainer) calibrate(f *fitted) error {
	pairs := make([]pairOfClasses, len(f.pairs.Pairs))
	for k, p := range f.pairs.Pairs {
		pairs[k] = t.pair(f.order, f.labels[p.First], f.labels[p.Second])
	}
	texts, decisions, err := t.heldOut(pairs)
	if err != nil {
		return err
	}
	f.calibration = &svm.Calibration{Classes: len(f.labels), Tol: coupling}
	for k, q := range pairs {
		s, err := svm.FitSigmoid(decisions[k], q.first)
		t.noteUnconverged(err)
		f.calibration.Sigmoids = append(f.calibration.Sigmoids, s)
	}
	for k := range f.lines {
		f.lines[k] = texts[k] + f.lines[k]
	}
	f.text = f.linesOfPairs()
	return nil
}

// pairOfClasses holds the rows of two classes.
type pairOfClasses struct {
	rows  []int  // rows of the problem
	first []bool // whether each row belongs to the first class
	task  classTask
	folds [][]int // positions in rows, by fold
}

// pair returns the rows of two classes, with new folds. The task's classes are 1 and -1.
func (t *trainer) pair(order []int, first, second int) pairOfClasses {
	q := pairOfClasses{task: classTask{labels: make([]int, len(t.labels)), c: 1, weights: make(map[int]float64)}}
	for sign, label := range map[int]int{1: first, -1: second} {
		q.task.weights[sign] = t.C * classTask{weights: t.Weights}.weight(label)
	}
	for _, r := range order {
		switch t.labels[r] {
		case first:
			q.task.labels[r] = 1
		case second:
			q.task.labels[r] = -1
		default:
			continue
		}
		q.rows, q.first = append(q.rows, r), append(q.first, t.labels[r] == first)
	}
	q.folds = t.drawFolds(len(q.rows), internalFolds)
	return q
}

// drawFolds deals n positions to folds in a random order.
func (t *trainer) drawFolds(n, folds int) [][]int {
	positions := linalg.Range(0, n)
	t.random.shuffle(positions)
	out := make([][]int, folds)
	for k := range out {
		out[k] = positions[k*n/folds : (k+1)*n/folds]
	}
	return out
}

// heldOut returns the decision on each row of each pair by a machine that was trained without the
// row's fold, and the lines that svm-train prints about these trainings. The folds of all pairs share all cores.
func (t *trainer) heldOut(pairs []pairOfClasses) (texts []string, decisions [][]float64, err error) {
	decisions = make([][]float64, len(pairs))
	parts, workers := make([]string, internalFolds*len(pairs)), make([]trainer, internalFolds*len(pairs))
	errs := make([]error, len(parts))
	for k, q := range pairs {
		decisions[k] = make([]float64, len(q.rows))
	}
	linalg.For(len(parts), 1, func(a, _ int) {
		k := a / internalFolds
		workers[a] = *t
		workers[a].warnings = nil
		parts[a], errs[a] = workers[a].decideFold(pairs[k], a%internalFolds, decisions[k])
	})
	for a := range parts {
		t.warnings = append(t.warnings, workers[a].warnings...)
	}
	for k := range pairs {
		texts = append(texts, strings.Join(parts[k*internalFolds:(k+1)*internalFolds], ""))
	}
	return texts, decisions, errors.Join(errs...)
}

// decideFold trains on the other folds of a pair and stores the decisions on the rows of one fold.
// If all other rows have one class, the decisions are 1 or -1.
func (t *trainer) decideFold(q pairOfClasses, fold int, dst []float64) (text string, err error) {
	f, err := t.fitClasses(linalg.At(q.rows, without(q.folds, fold)), q.task)
	if err != nil {
		return "", err
	}
	held := q.folds[fold]
	if f.pairs == nil {
		for _, i := range held {
			dst[i] = float64(f.labels[0])
		}
		return "", nil
	}
	t.cross(f, linalg.At(q.rows, held), func(lo int, cross linalg.Matrix[float64]) {
		for a, d := range f.pairs.Decisions(cross).Column(0) {
			dst[held[lo+a]] = d
		}
	})
	return f.text, nil
}

// without returns the entries of all folds but one.
func without(folds [][]int, one int) (out []int) {
	for k, fold := range folds {
		if k != one {
			out = append(out, fold...)
		}
	}
	return out
}

// noise estimates the scale of the Laplace distribution of a regression's errors, from a
// cross-validation (C.-J. Lin, R. Weng, Simple probabilistic predictions for support vector
// regression, 2004). It also returns the lines that svm-train prints. It returns 0 unless
// probabilities of a regression are requested.
func (t *trainer) noise(rows []int) (scale float64, text string, err error) {
	if !t.Probability || !t.Machine.Regresses() {
		return 0, "", nil
	}
	plain := *t.Training
	plain.Probability = false
	inner := *t
	inner.Training = &plain
	answers, text, err := inner.crossValidate(rows, internalFolds)
	t.warnings = inner.warnings
	if err != nil {
		return 0, "", err
	}
	errs := make([]float64, len(rows))
	for i, r := range rows {
		errs[i] = math.Abs(t.problem.Y[r] - answers[i])
	}
	scale = trimmedMean(errs)
	return scale, text + "Prob. model for test data: target value = predicted value + z,\n" +
		fmt.Sprintf("z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma= %.6g\n", scale), nil
}

// trimmedMean returns the mean of absolute errors without those of more than five standard
// deviations of a Laplace distribution with this mean.
func trimmedMean(errs []float64) float64 {
	mean := linalg.Mean(errs)
	most := 5 * math.Sqrt(2*mean*mean)
	sum, n := 0.0, 0
	for _, e := range errs {
		if e <= most {
			sum += e
			n++
		}
	}
	return sum / float64(n)
}
