package local

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
)

// A lambda of a mean over n rows is a price on sums over them.
func TestExactLearner(t *testing.T) {
	const n = 200
	for name, want := range map[job.LearnerName]job.Learner{
		job.Squared:     {Name: job.Ridge, Alpha: 1},
		job.Huber:       {Name: job.Ridge, Alpha: 2},
		job.Logistic:    {Name: job.SVC, C: 0.5},
		job.SmoothHinge: {Name: job.SVC, C: 0.5},
	} {
		got := exactLearner(job.Learner{Name: name, Lambda: 0.01}, n)
		if got.Name != want.Name || math.Abs(got.Alpha-want.Alpha) > 1e-12 || math.Abs(got.C-want.C) > 1e-12 {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if _, err := learner.SpecOf(&job.Job{Kernel: job.Kernel{Name: job.RBF, Gamma: 1}, Learner: got}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
