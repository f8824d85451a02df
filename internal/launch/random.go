package launch

import (
	"context"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/method"
	room "github.com/mercer-fl/mercer/internal/method/fdskl"
	"github.com/mercer-fl/mercer/internal/method/fdskl/local"
)

// compareRandom compares a job of protocol fdskl with the same training on all
// columns in one place, and on those of the label holder, by directions of their
// own: decisions are not compared, since other directions give others. It also
// measures what the label holder could find out. On demand, a machine with the
// kernel itself says what random features cost.
func compareRandom(ctx context.Context, j *job.Job, shares []Share, own []method.Split, r *method.Result) error {
	all, err := baseline.Beside(own)
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
		for i, s := range shares {
			one := method.Alone{Party: s.Party, Rows: r.Training}
			learned, err := random(ctx, j, own[i])
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if one.Metrics = learned.Metrics; err != nil {
				one.Failure = err.Error()
			}
			r.Warnings = append(r.Warnings, learned.Warnings("the training of "+s.Party+" alone")...)
			r.Alone = append(r.Alone, one)
		}
	}
	p, err := baseline.Prepare(j, []method.Split{all}, []method.Split{all})
	if err != nil {
		return err
	}
	exposure, err := local.ExposeRandom(ctx, j, p.X, own[0].Set.X.Cols())
	if err != nil {
		return err
	}
	r.Leakage = room.Leakage(j, r.Training+r.HeldOut, exposure)
	return nil
}

// random trains on columns in one place.
func random(ctx context.Context, j *job.Job, s method.Split) (room.Learned, error) {
	if s.Set.Labels == nil {
		return room.Learned{}, baseline.ErrNoLabels
	}
	p, err := baseline.Prepare(j, []method.Split{s}, []method.Split{s})
	if err != nil {
		return room.Learned{}, err
	}
	return local.LearnRandom(ctx, j, p.X, p.Labels, baseline.Count([]method.Split{s}, false))
}
