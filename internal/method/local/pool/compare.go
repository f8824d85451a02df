package pool

import (
	"context"
	"slices"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local"
)

// Columns returns the function Compare for protocols whose parties hold different columns. As far as
// the job asks for it, the function runs fit on the joined columns of all parties, and on each party's own columns.
func Columns(fit func(context.Context, *job.Job, method.Split) (learner.Metrics, error)) func(context.Context, local.Comparison) error {
	return func(ctx context.Context, c local.Comparison) error {
		if c.Job.Compares(job.Pooled) {
			all, err := Beside(c.Splits)
			if err != nil {
				return err
			}
			if c.Result.Pooled, err = fit(ctx, c.Job, all); err != nil {
				return err
			}
		}
		if !c.Job.Compares(job.Alone) {
			return nil
		}
		return Alone(ctx, c, func(i int) (method.Alone, error) {
			m, err := fit(ctx, c.Job, c.Splits[i])
			return method.Alone{Rows: c.Result.Training, Metrics: m}, err
		})
	}
}

// ChosenCell returns the index of the grid cell that a job chose, or 0 without a grid.
func ChosenCell(r *method.Result) int {
	return max(0, slices.IndexFunc(r.Grid, func(c learner.Cell) bool { return c.Best }))
}

// Alone adds to a result the metrics of each party that learns from its own data only. If a party
// cannot learn alone, Alone adds the party's error. It leaves out a party whose rows are all held out.
func Alone(ctx context.Context, c local.Comparison, reach func(party int) (method.Alone, error)) error {
	for i, name := range c.Job.Parties() {
		if name == c.Job.Data.Test.Party {
			continue // this party has only test rows
		}
		one, err := reach(i)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			one.Failure = err.Error()
		}
		one.Party = name
		c.Result.Alone = append(c.Result.Alone, one)
	}
	return nil
}

// ExactRows is the greatest number of rows, training and held out, for which a baseline has the
// exact kernel in place of random features. Their Gram matrix takes 512 MiB.
const ExactRows = 1 << 13

// Baselines adds the metrics of two trainings to a job's result, if the job compares them. One has
// the training rows of all parties in one place, with nothing withheld. The other is the
// training of each party on its own rows. Both predict the held-out rows of all parties. The result gets only those of
// their metrics that the job has, too. Function measure trains on the training rows of its argument
// and measures on the held-out rows.
func Baselines(ctx context.Context, c local.Comparison, measure func(*Rows) (learner.Metrics, error)) error {
	if c.Job.Compares(job.Pooled) {
		splits, err := c.Pooled()
		if err != nil {
			return err
		}
		p, err := PrepareExactly(c.Job, splits, splits)
		if err != nil {
			return err
		}
		all, err := measure(p)
		if err != nil {
			return err
		}
		c.Result.Pooled = shared(all, c.Result.Metrics)
	}
	if !c.Job.Compares(job.Alone) {
		return nil
	}
	return Alone(ctx, c, func(i int) (method.Alone, error) {
		own := c.Splits[i : i+1]
		one := method.Alone{Rows: Count(own, false)}
		p, err := Prepare(c.Job, own, c.Splits)
		if err != nil {
			return one, err
		}
		all, err := measure(p)
		if err == nil {
			one.Metrics = shared(all, c.Result.Metrics)
		}
		return one, err
	})
}

// shared returns those metrics of all whose names are also in like.
func shared(all, like learner.Metrics) learner.Metrics {
	own := learner.Metrics{}
	for name := range like {
		if v, has := all[name]; has {
			own[name] = v
		}
	}
	return own
}
