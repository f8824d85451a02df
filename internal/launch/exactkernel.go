package launch

import (
	"context"
	"fmt"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/method"
)

// exactRows is for how many rows a comparison with the exact kernel holds a Gram
// matrix: 2 GiB.
const exactRows = 1 << 14

// affordable says whether the comparisons that a job asks for can be made.
func affordable(j *job.Job, shares []Share) error {
	for _, s := range shares {
		if n := s.Table.Rows(); j.Compares(job.ExactKernel) && n > exactRows {
			return fmt.Errorf("%s has %d rows; the exact kernel is compared with up to %d, since its matrix has the square of them: remove exact-kernel from compare", s.Party, n, exactRows)
		}
	}
	return nil
}

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
