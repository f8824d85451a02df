package learner

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/learn/metrics"
)

// Inverted describes the matrix K + penalty I that a solver inverted.
type Inverted struct {
	Condition float64 // condition number in the 1-norm
	Penalty   string  // key of the penalty in a job
}

// illConditioned is the condition number from which a solution has few correct digits.
const illConditioned = 1e12

// Warnings returns a sentence for each reason why the solution's numbers deserve less trust: an
// ill-conditioned matrix, and probabilities that contradict the predicted classes.
func (f *Fitted) Warnings() (lines []string) {
	if f.inverted.Condition > illConditioned {
		lines = append(lines, f.inverted.warning())
	}
	if n := f.contradictions(); n > 0 {
		lines = append(lines, fmt.Sprintf("for %d of %d held-out rows the predicted class is not the most probable one; probabilities from few rows are unreliable, so use the classes, or more rows", n, f.held))
	}
	return lines
}

func (i Inverted) warning() string {
	digits := max(0, int(16-math.Log10(i.Condition)))
	return fmt.Sprintf("the kernel matrix plus %s is ill-conditioned (condition number %.0e): about %d digits of the solution are right; raise %s", i.Penalty, i.Condition, digits, i.Penalty)
}

// contradictions counts the held-out rows whose most probable class is not the predicted class.
func (f *Fitted) contradictions() int {
	p := f.Head.Probabilities(f.Decisions)
	if p.Cols == 0 || p.Cols != len(f.Head.Classes) || p.Rows != len(f.Predicted) {
		return 0
	}
	return metrics.Contradictions(f.Head.Classes, f.Predicted, p.Row)
}
