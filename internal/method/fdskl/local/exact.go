package local

import (
	"context"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
)

// exactKernel returns the metrics of the job's kernel on all columns in one place, without
// random features in its stead: a support vector machine tells classes apart, kernel ridge
// regression predicts numbers.
func exactKernel(ctx context.Context, j *job.Job, all method.Split) (learner.Metrics, error) {
	on, _ := learner.CourseOf(j)
	exact := *j
	exact.Learner = on.Exact(float64(pool.Count([]method.Split{all}, false)))
	f, err := pool.Fit(ctx, &exact, []method.Split{all}, []method.Split{all})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return f.Measure()
}
