package local

import (
	"context"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/fdskl"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
)

// Method is FDSKL where one process owns all columns.
type Method struct{}

// Name implements [local.Own].
func (Method) Name() string { return fdskl.Method{}.Name() }

// Compare implements [local.Compared]. It compares the job with the same training on all
// columns in one place, and on the label holder's columns alone, each with directions of its
// own. Decisions are not compared, since other directions give other decisions. It also
// measures how much the label holder could find out. On demand, a machine with the kernel
// itself shows the cost of random features.
func (Method) Compare(ctx context.Context, c local.Comparison) error {
	j, own, r := c.Job, c.Splits, c.Result
	all, err := pool.Beside(own)
	if err != nil {
		return err
	}
	if j.Compares(job.Pooled) {
		pooled, err := random(ctx, j, all)
		if err != nil {
			return err
		}
		r.Pooled, r.Warnings = pooled.Metrics, append(r.Warnings, pooled.Warnings("the training in one place")...)
	}
	if j.Compares(job.ExactKernel) {
		if r.ExactKernel, err = exactKernel(ctx, j, all); err != nil {
			return err
		}
	}
	if j.Compares(job.Alone) {
		if err := alone(ctx, c); err != nil {
			return err
		}
	}
	p, err := pool.Prepare(j, []method.Split{all}, []method.Split{all})
	if err != nil {
		return err
	}
	exposure, err := expose(ctx, j, p.X, own[0].Set.X.Cols())
	if err != nil {
		return err
	}
	r.Leakage = fdskl.Leakage(j, r.Training+r.HeldOut, exposure)
	return nil
}

// random trains on columns in one place.
func random(ctx context.Context, j *job.Job, s method.Split) (fdskl.Learned, error) {
	if s.Set.Labels == nil {
		return fdskl.Learned{}, pool.ErrNoLabels
	}
	p, err := pool.Prepare(j, []method.Split{s}, []method.Split{s})
	if err != nil {
		return fdskl.Learned{}, err
	}
	return learnRandom(ctx, j, p.X, p.Labels, pool.Count([]method.Split{s}, false))
}

// alone adds what each party's columns reach.
func alone(ctx context.Context, c local.Comparison) error {
	for i, name := range c.Job.Parties() {
		one := method.Alone{Party: name, Rows: c.Result.Training}
		learned, err := random(ctx, c.Job, c.Splits[i])
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if one.Metrics = learned.Metrics; err != nil {
			one.Failure = err.Error()
		}
		c.Result.Warnings = append(c.Result.Warnings, learned.Warnings("the training of "+name+" alone")...)
		c.Result.Alone = append(c.Result.Alone, one)
	}
	return nil
}
