// Package local compares jobs of SecureBoost with the same training in one place, in a
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

// Support returns SecureBoost's functions for a process that owns all columns: it compares a job with
// the same training on all columns in one place, whose trees are equal, and on each party's columns
// alone.
func Support() local.LocalSupport {
	return local.LocalSupport{Name: secureboost.Protocol().Name(), Compare: pool.Columns(grown)}
}

// grown trains on columns in one place.
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
