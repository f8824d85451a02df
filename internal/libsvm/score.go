package libsvm

import "fmt"

// Score compares predictions with labels.
type Score struct {
	Rows int `json:"rows"`
	// Correct counts the rows whose prediction equals the label, and Accuracy is their share. Both are 0
	// for a regression.
	Correct  int     `json:"correct"`
	Accuracy float64 `json:"accuracy"`
	// These are the figures of a regression. SquaredCorrelation is NaN, and null in JSON, if labels or
	// predictions are all equal.
	MeanSquaredError   float64 `json:"mean_squared_error"`
	SquaredCorrelation float64 `json:"squared_correlation"`
	regression         bool
}

// NewScore compares predictions of a machine with labels. There is at least one row.
func NewScore(m Machine, labels, answers []float64) Score {
	s := Score{Rows: len(labels), regression: m.Regresses()}
	var squares, a, y, aa, yy, ay float64
	for i, v := range answers {
		t := labels[i]
		if !s.regression && v == t {
			s.Correct++
		}
		squares += (v - t) * (v - t)
		a, y, aa, yy, ay = a+v, y+t, aa+v*v, yy+t*t, ay+v*t
	}
	n := float64(s.Rows)
	if !s.regression {
		s.Accuracy = float64(s.Correct) / n
		return s
	}
	s.MeanSquaredError = squares / n
	covariance := n*ay - a*y
	s.SquaredCorrelation = covariance * covariance / ((n*aa - a*a) * (n*yy - y*y))
	return s
}

// String returns the lines that svm-predict prints.
func (s Score) String() string {
	if s.regression {
		return fmt.Sprintf("Mean squared error = %.6g (regression)\nSquared correlation coefficient = %.6g (regression)\n", s.MeanSquaredError, s.SquaredCorrelation)
	}
	return fmt.Sprintf("Accuracy = %.6g%% (%d/%d) (classification)\n", 100*s.Accuracy, s.Correct, s.Rows)
}
