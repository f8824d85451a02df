package mercer

import (
	"fmt"

	"github.com/mercer-fl/mercer/learn/metrics"
)

// Score returns the accuracy of a classifier: the share of rows whose class it predicts. Package
// learn/metrics has other measures of quality, and their confidence intervals.
func (m *Model) Score(rows [][]float64, labels []string) (float64, error) {
	predicted, err := m.Predict(rows)
	if err != nil {
		return 0, err
	}
	if m.Classes() == nil {
		return 0, fmt.Errorf("mercer: %s does not predict classes; use ScoreNumbers for a regression", m.kind())
	}
	if len(labels) != len(rows) {
		return 0, fmt.Errorf("mercer: %d labels for %d rows; each row needs one", len(labels), len(rows))
	}
	return accuracy(labels, predicted)
}

// ScoreNumbers returns R2 of a regression: 1 is perfect, and 0 is as good as predicting the mean of
// the targets.
func (m *Model) ScoreNumbers(rows [][]float64, targets []float64) (float64, error) {
	predicted, err := m.PredictNumbers(rows)
	if err != nil {
		return 0, err
	}
	if len(targets) != len(rows) {
		return 0, fmt.Errorf("mercer: %d targets for %d rows; each row needs one", len(targets), len(rows))
	}
	return r2(targets, predicted)
}

func accuracy(truth, predicted []string) (float64, error) {
	score, err := metrics.Accuracy(truth, predicted)
	if err != nil {
		return 0, fmt.Errorf("mercer: %w", err)
	}
	return score, nil
}

func r2(truth, predicted []float64) (float64, error) {
	score, err := metrics.R2(truth, predicted)
	if err != nil {
		return 0, fmt.Errorf("mercer: %w", err)
	}
	return score, nil
}
