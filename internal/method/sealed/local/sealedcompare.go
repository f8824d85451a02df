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

// compare adds the metrics of two trainings to a job's result, if the job compares them. One has the training rows of
// all parties in one place, with nothing withheld. The other is the training of each party on its own rows. Both
// predict the held-out rows of all parties. Both are without noise.
func compare(ctx context.Context, c local.Comparison) error {
	plain := sealed.Ordinary(c.Job)
	return pool.Baselines(ctx, c, func(p *pool.Rows) (learner.Metrics, error) { return measured(ctx, plain, p) })
}

// measured trains on the training rows of p, and returns the metrics on its held-out rows.
func measured(ctx context.Context, j *job.Job, p *pool.Rows) (learner.Metrics, error) {
	first := slices.Index(p.Test, true) // training rows come first
	if len(p.Test) > pool.ExactRows {
		return random(j, p, first)
	}
	return exact(ctx, j, p, first)
}

// exact learns with the exact kernel on the first rows. Linear features have the kernel of the columns and a constant.
// The mean of a Gaussian process is a ridge regression.
func exact(ctx context.Context, j *job.Job, p *pool.Rows, training int) (learner.Metrics, error) {
	x, err := job.As[*sealed.Keys](j.Protocol).Privacy.Mapped(j, p.X)
	if err != nil {
		return nil, err
	}
	k, err := kernel.New(j.Kernel.Spec())
	if err != nil {
		return nil, err
	}
	problem, alpha := p.ProblemOf(x), sealed.AlphaFor(j, training)
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

// random learns with random features on the first rows, as many as a job over these rows has, or with linear ones. It
// draws directions of its own.
func random(j *job.Job, p *pool.Rows, training int) (learner.Metrics, error) {
	part := func(lo, hi int) sealed.Labelled {
		return sealed.Labelled{Rows: linalg.Pick(p.X, linalg.Range(lo, hi)), Labels: p.Labels[lo:hi]}
	}
	var seed wire.Writer
	seed.String("mercer/v1/baseline")
	seed.Uint64(j.Seed)
	return sealed.TrainInOnePlace(j, sha256.Sum256(seed.Bytes()), part(0, training), part(training, len(p.Test)))
}
