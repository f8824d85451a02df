package method

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// Prediction is the answer to a question about new rows.
type Prediction struct {
	model.Reading
	// Rows lists the table's rows that have an answer, ascending; the other rows are not
	// known to all who hold their columns. Nil means all rows.
	Rows      []int
	Predicted []string               // one for each row; nil where the learner predicts nothing
	Decisions linalg.Matrix[float64] // rows x outputs, see model.Reading
}

// Take computes the predictions from the decisions.
func (a *Prediction) Take(decisions linalg.Matrix[float64]) error {
	if err := a.Check(decisions.Cols); err != nil {
		return fmt.Errorf("method: %w", err)
	}
	a.Decisions, a.Predicted = decisions, a.Predict(decisions)
	return nil
}
