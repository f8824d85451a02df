package local

import (
	"context"
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	sums "github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// addBaselines adds the metrics of two trainings to a job's result. One has the training rows of all
// parties in one place, with nothing withheld. The other is each party's on its own rows. Both use
// the regulariser that the job chose, and predict the held-out rows of all parties.
func addBaselines(ctx context.Context, c local.Comparison) error {
	cell := c.Job.At(pool.ChosenCell(c.Result))
	if c.Job.Compares(job.Pooled) {
		splits, err := c.Pooled()
		if err != nil {
			return err
		}
		p, err := pool.PrepareExactly(c.Job, splits, splits)
		if err != nil {
			return err
		}
		if c.Result.Pooled, err = measured(ctx, cell, p, c.Result.Metrics); err != nil {
			return err
		}
	}
	if !c.Job.Compares(job.Alone) {
		return nil
	}
	return pool.Alone(ctx, c, func(i int) (method.Alone, error) {
		own := c.Splits[i : i+1]
		one := method.Alone{Rows: pool.Count(own, false)}
		p, err := pool.Prepare(c.Job, own, c.Splits)
		if err == nil {
			one.Metrics, err = measured(ctx, cell, p, c.Result.Metrics)
		}
		return one, err
	})
}

// exactRows is the greatest number of rows, training and held out, for which a baseline has the exact
// kernel. Their Gram matrix takes 512 MiB. For more rows a baseline has random features, like the
// job.
const exactRows = 1 << 13

// measured trains on the training rows of p, and returns those metrics on its held-out rows that the
// job has, too.
func measured(ctx context.Context, j *job.Job, p *pool.Rows, like learner.Metrics) (learner.Metrics, error) {
	train := exact
	if l, _ := learner.ObjectiveOf(j.Learner); len(p.Test) > exactRows || l.Components > 0 { // a job explains the variance of random features
		train = random
	}
	all, err := train(ctx, j, p)
	if err != nil {
		return nil, err
	}
	own := learner.Metrics{}
	for name := range like {
		if v, has := all[name]; has {
			own[name] = v
		}
	}
	return own, nil
}

// exact learns with the exact kernel.
func exact(ctx context.Context, j *job.Job, p *pool.Rows) (learner.Metrics, error) {
	problem, spec, err := p.Problem(), learner.Spec{}, error(nil)
	if j.Task().Classes {
		l, _ := learner.ObjectiveOf(j.Learner)
		spec.Solver, problem.Order = learner.RidgeClassifier{Alpha: l.Penalty}, job.As[*sums.Keys](j.Protocol).Classes
		spec.Kernel, err = kernel.New(j.Kernel.Spec())
	} else {
		spec, err = learner.SpecOf(j)
	}
	if err != nil {
		return nil, err
	}
	f, err := learner.Fit(ctx, problem, spec, nil)
	if err != nil {
		return nil, err
	}
	return f.Measure()
}

// random learns with random features, as many as a job over these rows has. It draws directions of
// its own.
func random(ctx context.Context, j *job.Job, p *pool.Rows) (learner.Metrics, error) {
	var training, held sums.Labelled
	first := slices.Index(p.Test, true) // training rows come first
	training.Rows, held.Rows = linalg.Pick(p.X, linalg.Range(0, first)), linalg.Pick(p.X, linalg.Range(first, len(p.Test)))
	if p.Labels != nil {
		training.Labels, held.Labels = p.Labels[:first], p.Labels[first:]
	}
	return sums.TrainInOnePlace(ctx, j, seedFor(j, "mercer/v1/baseline"), training, held)
}
