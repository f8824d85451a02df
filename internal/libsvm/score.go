package libsvm

import (
	"encoding/json"
	"fmt"
)

// Score compares predictions with labels.
type Score struct {
	Rows int
	// Correct counts the rows whose prediction equals the label, and Accuracy is their share. Both are 0
	// for a regression.
	Correct  int
	Accuracy float64
	// These are the figures of a regression. SquaredCorrelation is undefined if labels or predictions
	// are all equal: NaN, or a number that rounding leaves.
	MeanSquaredError   float64
	SquaredCorrelation float64
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

// MarshalJSON leaves out figures that the machine does not have, or that are undefined.
func (s Score) MarshalJSON() ([]byte, error) {
	fields := map[string]any{"rows": s.Rows}
	if s.regression {
		fields["mean_squared_error"] = s.MeanSquaredError
		if r := s.SquaredCorrelation; r-r == 0 {
			fields["squared_correlation"] = r
		}
	} else {
		fields["correct"], fields["accuracy"] = s.Correct, s.Accuracy
	}
	return json.Marshal(fields)
}
