package libsvm

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/linalg"
)

// Validated is the result of a cross-validation.
type Validated struct {
	Score    Score
	Text     string // lines that svm-train prints
	Warnings []string
}

// CrossValidate predicts each row by a machine that is trained without the row's fold, with t.Folds
// folds.
func CrossValidate(p *Problem, t *Training) (*Validated, error) {
	tr, err := newTrainer(p, t)
	if err != nil {
		return nil, err
	}
	all := linalg.Range(0, len(p.Y))
	folds := t.Folds
	tr.warnAbout(all)
	if folds > len(all) {
		folds = len(all)
		tr.warnings = append(tr.warnings, fmt.Sprintf("-v is %d, but there are %d rows, so that each row is a fold", t.Folds, folds))
	}
	answers, text, err := tr.crossValidate(all, folds)
	if err != nil {
		return nil, err
	}
	s := NewScore(t.Machine, p.Y, answers)
	if t.Machine.Regresses() {
		text += fmt.Sprintf("Cross Validation Mean squared error = %.6g\nCross Validation Squared correlation coefficient = %.6g\n", s.MeanSquaredError, s.SquaredCorrelation)
	} else {
		text += fmt.Sprintf("Cross Validation Accuracy = %.6g%%\n", 100*s.Accuracy)
	}
	return &Validated{Score: s, Text: text, Warnings: tr.warnings}, nil
}

// crossValidate returns the prediction for each of the given rows, and the lines of all trainings.
func (t *trainer) crossValidate(rows []int, folds int) (answers []float64, text string, err error) {
	dealt := t.deal(rows, folds)
	answers = make([]float64, len(rows))
	var all strings.Builder
	for k, held := range dealt {
		f, err := t.fit(linalg.At(rows, without(dealt, k)))
		if err != nil {
			return nil, "", fmt.Errorf("fold %d: %w", k+1, err)
		}
		all.WriteString(f.text)
		for a, v := range t.answers(f, linalg.At(rows, held)) {
			answers[held[a]] = v
		}
	}
	return answers, all.String(), nil
}

// deal deals the positions of rows to folds. Folds of a classifier hold the classes in equal shares,
// unless each row is a fold.
func (t *trainer) deal(rows []int, folds int) [][]int {
	if !t.Machine.Classifies() || folds >= len(rows) {
		return t.drawFolds(len(rows), folds)
	}
	labels := linalg.At(t.labels, rows)
	_, grouped, codes := group(linalg.Range(0, len(rows)), labels)
	out := make([][]int, folds)
	for lo := 0; lo < len(codes); {
		hi := lo
		for hi < len(codes) && codes[hi] == codes[lo] {
			hi++
		}
		class := grouped[lo:hi]
		t.random.shuffle(class)
		for k := range out {
			out[k] = append(out[k], class[k*len(class)/folds:(k+1)*len(class)/folds]...)
		}
		lo = hi
	}
	return out
}
