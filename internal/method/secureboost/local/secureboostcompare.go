// Package local compares a SecureBoost job with the same training in one place. It runs in a
// process that owns all columns.
package local

import (
	"context"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	"github.com/mercer-fl/mercer/internal/method/secureboost"
	"github.com/mercer-fl/mercer/learn/boost"
)

// Support returns the functions by which a process that owns all columns compares SecureBoost jobs.
// It compares a job with the same training on all columns in one place, which grows equal trees. It
// also compares the job with a training on each party's columns alone.
func Support() local.LocalSupport {
	return local.LocalSupport{Name: secureboost.Protocol().Name(), Compare: pool.Columns(grown)}
}

// grown grows trees on the columns of a split and returns their metrics on held-out rows.
func grown(ctx context.Context, j *job.Job, s method.Split) (learner.Metrics, error) {
	if s.Set.Labels == nil {
		return nil, pool.ErrNoLabels
	}
	p, err := pool.Prepare(j, []method.Split{s}, []method.Split{s})
	if err != nil {
		return nil, err
	}
	train := pool.Count([]method.Split{s}, false)
	t, err := secureboost.NewTraining(j, p.Labels, train)
	if err != nil {
		return nil, fault.BadInput(err)
	}
	if err := boost.Fit(t.Booster, boost.Bin(p.X, train, learner.TreesOf(j).Bins), ctx.Err); err != nil {
		return nil, err
	}
	return t.Measure()
}
