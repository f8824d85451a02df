package evaluate

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// Task is rows of which some are held out. All that a learner sees of a row is
// its dot products with the others.
type Task struct {
	Gram   linalg.Matrix[float64] // n x n, x_i . x_j
	Labels []string               // n
	Test   []bool                 // n, true: held out
}

// Learner says what to fit.
type Learner struct {
	Kernel kernel.Kernel
	SVC    svm.Params
}

// Fitted is a classifier with what it decided about the held-out rows.
type Fitted struct {
	Classifier *svm.Classifier
	Support    []int                  // rows of the task that are support vectors
	Decisions  linalg.Matrix[float64] // held-out rows x pairs of classes
	Predicted  []string               // classes of the held-out rows
	Truth      []string

	folds [][]int // of the held-out rows, if they were held out in turn; nil: all at once
}

// ErrOneClass says that there is nothing to tell apart.
var ErrOneClass = errors.New("all training rows have the same label; a classifier needs two classes or more")

// Fit trains on the rows that are not held out and decides the rest. progress
// may be nil.
func Fit(t Task, l Learner, progress func(done, total int)) (*Fitted, error) {
	train, test := t.rows()
	classes, codes := dataset.Classes(pick(t.Labels, train))
	if len(classes) < 2 {
		return nil, fmt.Errorf("evaluate: %w", ErrOneClass)
	}
	all := kernel.Of(t.Gram, l.Kernel)
	c, err := svm.TrainSVC(kernel.Subset(all, train), codes, classes, l.SVC, progress)
	if err != nil {
		return nil, fmt.Errorf("evaluate: %w", err)
	}
	f := &Fitted{Classifier: c, Support: pick(train, c.Support()), Truth: pick(t.Labels, test)}
	cross := linalg.New[float64](len(test), len(f.Support))
	all.Block(test, f.Support, cross)
	f.Decisions = c.Decisions(cross)
	for _, code := range c.Predict(f.Decisions) {
		f.Predicted = append(f.Predicted, classes[code])
	}
	return f, nil
}

// rows returns the indices of the training and of the held-out rows.
func (t Task) rows() (train, test []int) {
	for i, held := range t.Test {
		if held {
			test = append(test, i)
		} else {
			train = append(train, i)
		}
	}
	return train, test
}

func pick[T any](from []T, rows []int) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = from[r]
	}
	return out
}

// Constant is what remains of a classifier when a party's training rows have
// one class only: it always says that class. It has no decisions.
func Constant(class string, truth []string) *Fitted {
	f := &Fitted{Classifier: &svm.Classifier{Classes: []string{class}}, Truth: truth}
	for range truth {
		f.Predicted = append(f.Predicted, class)
	}
	return f
}
