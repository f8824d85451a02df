package local

import (
	"context"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/method"
)

// exactKernel is what the job's kernel gives on all columns in one place, without
// random features to stand for it: a support vector machine tells classes apart,
// kernel ridge regression predicts numbers.
func exactKernel(ctx context.Context, j *job.Job, all method.Split) (learner.Metrics, error) {
	exact := *j
	exact.Learner = exactLearner(j.Learner, float64(baseline.Count([]method.Split{all}, false)))
	f, err := baseline.Fit(ctx, &exact, []method.Split{all}, []method.Split{all})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return f.Measure()
}

// exactLearner has the price on the norm that lambda is of n rows: fdskl's
// learners minimise the mean of losses and lambda/2 |w|^2, the others sums of them.
func exactLearner(l job.Learner, n float64) job.Learner {
	switch l.Name {
	case job.Squared:
		return job.Learner{Name: job.Ridge, Alpha: n * l.Lambda / 2}
	case job.Huber: // half the square, where errors are small
		return job.Learner{Name: job.Ridge, Alpha: n * l.Lambda}
	}
	return job.Learner{Name: job.SVC, C: 1 / (n * l.Lambda)}
}
