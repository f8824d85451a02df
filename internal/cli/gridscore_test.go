package cli

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
)

// A grid without folds is judged on training rows, never on held-out rows.
func TestGridScore(t *testing.T) {
	for _, tt := range []struct {
		cell learner.Cell
		want string
	}{
		{learner.Cell{Score: "gcv"}, "the lowest generalised cross-validation (gcv) on the training rows"},
		{learner.Cell{Score: "log_marginal_likelihood"}, "the highest log marginal likelihood on the training rows"},
		{learner.Cell{Score: "accuracy", Folds: []float64{0.5, 0.6}}, "the mean over 2 folds"},
	} {
		o := outcome{Result: &method.Result{}}
		o.Grid = []learner.Cell{tt.cell}
		if got := o.gridScore(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
