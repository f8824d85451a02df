package tune

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// SVC is a [Learner] that tunes a C-SVC. Its score is the accuracy. Settings are trained from the
// smallest C to the largest, each from the solution of the one before.
type SVC struct {
	Codes   []int // class code of each row: row r belongs to Classes[Codes[r]]
	Classes []string
	Params  []svm.Params // settings to choose from, usually one for each C
	// RowWeights holds the weight of each row in the training, as in [svm.Params]; nil means 1 each.
	// The score gives each row the same weight. Params must not have RowWeights of their own.
	RowWeights []float64
}

// Settings returns the number of settings.
func (l SVC) Settings() int { return len(l.Params) }

// Try implements [Learner].
func (l SVC) Try(k kernel.Source, f Fold, tried func() error) ([]Trial, error) {
	train := kernel.Subset(k, f.Train)
	codes := linalg.At(l.Codes, f.Train)
	trials := make([]Trial, len(l.Params))
	var last *svm.Classifier
	for _, i := range l.ascending() {
		p := l.Params[i]
		if l.RowWeights != nil {
			p.RowWeights = linalg.At(l.RowWeights, f.Train)
		}
		c, err := trainFrom(last, train, codes, l.Classes, p)
		if err != nil {
			return nil, fmt.Errorf("the training with C = %v failed: %w", p.C, err)
		}
		trials[i], last = l.trial(c, k, f), c
		if err := tried(); err != nil {
			return nil, err
		}
	}
	return trials, nil
}

// ascending returns the indices of the settings in ascending order of C.
func (l SVC) ascending() []int {
	order := linalg.Range(0, len(l.Params))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(l.Params[a].C, l.Params[b].C) })
	return order
}

// trainFrom trains a C-SVC. It starts from the coefficients of the classifier start, or from zero
// if start is nil.
func trainFrom(start *svm.Classifier, k kernel.Source, codes []int, classes []string, p svm.Params) (*svm.Classifier, error) {
	if start == nil {
		return svm.TrainSVC(k, codes, classes, p, nil)
	}
	return svm.TrainSVCFrom(start, k, codes, classes, p, nil)
}

// panel is the number of test rows for which decisions are computed at a time. Their kernel values
// with the support vectors then stay in the cache.
const panel = 64

// trial computes a classifier's decisions for the test rows of a fold, and their score.
func (l SVC) trial(c *svm.Classifier, k kernel.Source, f Fold) Trial {
	support := linalg.At(f.Train, c.Support())
	t := Trial{Outputs: linalg.New[float64](len(f.Test), len(c.Pairs))}
	cross := linalg.New[float64](min(panel, len(f.Test)), len(support))
	for lo := 0; lo < len(f.Test); lo += panel {
		rows := f.Test[lo:min(lo+panel, len(f.Test))]
		block := cross.Panel(0, len(rows))
		k.Block(rows, support, block)
		copy(t.Outputs.Panel(lo, lo+len(rows)).Data, c.Decisions(block).Data)
	}
	for i, code := range c.Predict(t.Outputs) {
		if code == l.Codes[f.Test[i]] {
			t.Correct++
		}
	}
	t.Score = float64(t.Correct) / float64(len(f.Test))
	return t
}
