package mercer

import (
	"errors"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/linalg"
)

// Folds divides the rows of a cross-validation. The zero value makes five folds.
type Folds struct {
	Count int    // number of folds, at least 2; 0 means 5
	Seed  uint64 // seed of the division
	// Groups names the group of each row, such as the patient of the row. All rows of a group go to
	// one fold, and Seed has no effect. If Groups is nil, rows are divided one by one; for a
	// classifier, the numbers of rows of a class in any two folds then differ by at most one.
	Groups []string
}

// Validation is the outcome of a cross-validation.
type Validation struct {
	Scores          []float64 // score of each fold, as of [Model.Score] or [Model.ScoreNumbers]
	Mean, Deviation float64   // mean and standard deviation of the scores
	// Predicted and Numbers hold the prediction for each row, by the model that was not trained on the
	// row. Predicted is nil for a regression, and Numbers is nil for a classifier.
	Predicted []string
	Numbers   []float64
}

// CrossValidate trains a classifier for each fold, on the rows outside the fold, and scores the
// classifier on the fold. The kernel's scale and a gamma of 0 are determined anew for each fold,
// from the fold's training rows alone.
func CrossValidate(rows [][]float64, labels []string, classifier Learner, kernel Kernel, folds Folds) (*Validation, error) {
	if classifier == nil {
		return nil, errors.New("mercer: the classifier is nil; give one, such as mercer.SVC{}")
	}
	if _, needs := classifier.learner(); !needs {
		return nil, fmt.Errorf("mercer: %T learns no classes; cross-validate an SVC or NuSVC", classifier)
	}
	if len(labels) != len(rows) {
		return nil, fmt.Errorf("mercer: %d labels for %d rows; each row needs one", len(labels), len(rows))
	}
	v := &Validation{Predicted: make([]string, len(rows))}
	return v.run(rows, labels, folds, func(train, test []int) (float64, error) {
		m, err := Fit(linalg.At(rows, train), linalg.At(labels, train), classifier, kernel)
		if err != nil {
			return 0, err
		}
		predicted, err := m.Predict(linalg.At(rows, test))
		if err != nil {
			return 0, err
		}
		scatter(v.Predicted, test, predicted)
		return accuracy(linalg.At(labels, test), predicted)
	})
}

// CrossValidateNumbers is like [CrossValidate] for a regression.
func CrossValidateNumbers(rows [][]float64, targets []float64, regressor Regressor, kernel Kernel, folds Folds) (*Validation, error) {
	if regressor == nil {
		return nil, errors.New("mercer: the regressor is nil; give one, such as mercer.Ridge{}")
	}
	if len(targets) != len(rows) {
		return nil, fmt.Errorf("mercer: %d targets for %d rows; each row needs one", len(targets), len(rows))
	}
	v := &Validation{Numbers: make([]float64, len(rows))}
	return v.run(rows, nil, folds, func(train, test []int) (float64, error) {
		m, err := FitNumbers(linalg.At(rows, train), linalg.At(targets, train), regressor, kernel)
		if err != nil {
			return 0, err
		}
		predicted, err := m.PredictNumbers(linalg.At(rows, test))
		if err != nil {
			return 0, err
		}
		scatter(v.Numbers, test, predicted)
		return r2(linalg.At(targets, test), predicted)
	})
}

// run checks the rows, calls score for each fold, and collects the scores.
func (v *Validation) run(rows [][]float64, labels []string, folds Folds, score func(train, test []int) (float64, error)) (*Validation, error) {
	if _, err := Matrix(rows); err != nil { // before the division, so that the error's row number counts all rows
		return nil, err
	}
	n := len(rows)
	tests, err := folds.divide(n, labels)
	if err != nil {
		return nil, err
	}
	for i, test := range tests {
		s, err := score(dataset.Complement(n, test), test)
		if err != nil {
			return nil, fmt.Errorf("%w (in fold %d of %d)", err, i+1, len(tests))
		}
		v.Scores = append(v.Scores, s)
	}
	v.Mean, v.Deviation = meanDeviation(v.Scores)
	return v, nil
}

// divide returns the test rows of each fold.
func (f Folds) divide(n int, labels []string) (tests [][]int, err error) {
	count := f.Count
	if count == 0 {
		count = 5
	}
	switch {
	case f.Groups != nil && len(f.Groups) != n:
		return nil, fmt.Errorf("mercer: %d groups for %d rows; each row needs one", len(f.Groups), n)
	case f.Groups != nil:
		tests, err = dataset.GroupFolds(f.Groups, count)
	case labels != nil:
		tests, err = dataset.Folds(labels, count, f.Seed)
	default:
		tests, err = dataset.FoldsPlain(n, count, f.Seed)
	}
	if err != nil {
		return nil, fmt.Errorf("mercer: %w", err)
	}
	return tests, nil
}

// scatter writes values[i] to dst[index[i]].
func scatter[T any](dst []T, index []int, values []T) {
	for i, r := range index {
		dst[r] = values[i]
	}
}

// meanDeviation returns the mean and the standard deviation of numbers.
func meanDeviation(list []float64) (mean, deviation float64) {
	for _, v := range list {
		mean += v / float64(len(list))
	}
	for _, v := range list {
		deviation += (v - mean) * (v - mean) / float64(len(list))
	}
	return mean, math.Sqrt(deviation)
}
