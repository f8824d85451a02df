package local

import (
	"context"
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	sums "github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// addBaselines adds the metrics of two trainings to a job's result, if the job compares them. One has the training rows
// of all parties in one place, with nothing withheld. The other is the training of each party on its own rows. Both use
// the regulariser that the job chose, and predict the held-out rows of all parties. If the job has privacy, both
// trainings are without noise and use the regulariser of a job without privacy.
func addBaselines(ctx context.Context, c local.Comparison) error {
	cell := sums.Ordinary(c.Job.At(pool.ChosenCell(c.Result)))
	return pool.Baselines(ctx, c, func(p *pool.Rows) (learner.Metrics, error) { return measured(ctx, cell, p) })
}

// measured trains on the training rows of p, and returns the metrics on its held-out rows.
func measured(ctx context.Context, j *job.Job, p *pool.Rows) (learner.Metrics, error) {
	if l, _ := learner.ObjectiveOf(j.Learner); len(p.Test) > pool.ExactRows || l.Components > 0 { // the explained variance of components is that of random features
		return random(ctx, j, p)
	}
	return exact(ctx, j, p)
}

// exact learns with the exact kernel. Linear features have the kernel of the columns and a constant.
func exact(ctx context.Context, j *job.Job, p *pool.Rows) (learner.Metrics, error) {
	x, err := job.As[*sums.Keys](j.Protocol).Privacy.Mapped(j, p.X)
	if err != nil {
		return nil, err
	}
	problem, spec := p.ProblemOf(x), learner.Spec{}
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

// random learns with random features, as many as a job over these rows has, or with linear ones. It draws
// directions of its own.
func random(ctx context.Context, j *job.Job, p *pool.Rows) (learner.Metrics, error) {
	var training, held sums.Labelled
	first := slices.Index(p.Test, true) // training rows come first
	training.Rows, held.Rows = linalg.Pick(p.X, linalg.Range(0, first)), linalg.Pick(p.X, linalg.Range(first, len(p.Test)))
	if p.Labels != nil {
		training.Labels, held.Labels = p.Labels[:first], p.Labels[first:]
	}
	return sums.TrainInOnePlace(ctx, j, seedFor(j, "mercer/v1/baseline"), training, held)
}
