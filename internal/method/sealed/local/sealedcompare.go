// Package local compares a job of protocol sealed with training on the rows of all parties in one place, and of each
// party alone. No daemon links it.
package local

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	"github.com/mercer-fl/mercer/internal/method/sealed"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// Support returns the functions of protocol sealed for a process that owns all rows.
func Support() local.LocalSupport {
	return local.LocalSupport{Name: sealed.Protocol().Name(), Compare: compare}
}

// compare adds the metrics of two trainings to a job's result. One has the training rows of all parties in one place,
// with nothing withheld. The other is each party's on its own rows. Both predict the held-out rows of all parties.
func compare(ctx context.Context, c local.Comparison) error {
	if c.Job.Compares(job.Pooled) {
		splits, err := c.Pooled()
		if err != nil {
			return err
		}
		p, err := pool.PrepareExactly(c.Job, splits, splits)
		if err != nil {
			return err
		}
		if c.Result.Pooled, err = measured(ctx, c.Job, p, c.Result.Metrics); err != nil {
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
			one.Metrics, err = measured(ctx, c.Job, p, c.Result.Metrics)
		}
		return one, err
	})
}

// exactRows is the greatest number of rows, training and held out, for which a comparison has the exact kernel. Their
// Gram matrix takes 512 MiB. For more rows it has random features, like the job.
const exactRows = 1 << 13

// measured trains on the training rows of p, and returns those metrics on its held-out rows that the job has, too.
func measured(ctx context.Context, j *job.Job, p *pool.Rows, like learner.Metrics) (learner.Metrics, error) {
	first := slices.Index(p.Test, true) // training rows come first
	var all learner.Metrics
	var err error
	if len(p.Test) > exactRows {
		all, err = random(j, p, first)
	} else {
		all, err = exact(ctx, j, p, first)
	}
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

// exact learns with the exact kernel on the first rows.
func exact(ctx context.Context, j *job.Job, p *pool.Rows, training int) (learner.Metrics, error) {
	k, err := kernel.New(j.Kernel.Spec())
	if err != nil {
		return nil, err
	}
	problem, alpha := p.Problem(), sealed.AlphaFor(j, training)
	spec := learner.Spec{Kernel: k, Solver: learner.Ridge{Alpha: alpha}}
	if j.Task().Classes {
		spec.Solver, problem.Order = learner.RidgeClassifier{Alpha: alpha}, job.As[*sealed.Keys](j.Protocol).Classes
	}
	f, err := learner.Fit(ctx, problem, spec, nil)
	if err != nil {
		return nil, err
	}
	return f.Measure()
}

// random learns with random features on the first rows, as many as a job over these rows has. It draws directions of
// its own.
func random(j *job.Job, p *pool.Rows, training int) (learner.Metrics, error) {
	part := func(lo, hi int) sealed.Labelled {
		return sealed.Labelled{Rows: linalg.Pick(p.X, linalg.Range(lo, hi)), Labels: p.Labels[lo:hi]}
	}
	var seed wire.Writer
	seed.String("mercer/v1/baseline")
	seed.Uint64(j.Seed)
	return sealed.TrainInOnePlace(j, sha256.Sum256(seed.Bytes()), part(0, training), part(training, len(p.Test)))
}
