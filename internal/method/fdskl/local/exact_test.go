package local

import (
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// A lambda of a mean over n rows is a price on sums over them.
func TestExactLearner(t *testing.T) {
	const n = 200
	for name, want := range map[string]string{
		"squared": "ridge, alpha = 1", "huber": "ridge, alpha = 2", "logistic": "svc, C = 0.5", "smooth-hinge": "svc, C = 0.5",
	} {
		on, optimizer := learner.OptimizerParamsOf(&job.Job{Learner: jobtest.Learner(t, name)})
		optimizer.Lambda = 0.01
		got := on.Exact(n)
		if got.Text() != want {
			t.Errorf("%s: %s, want %s", name, got.Text(), want)
		}
		if _, err := learner.SpecOf(&job.Job{Kernel: job.Kernel{Name: job.RBF, Gamma: 1}, Learner: got}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
