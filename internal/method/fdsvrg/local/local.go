// Package local compares an FD-SVRG job with the minimum of its loss on the columns of all parties.
// It runs in a process that owns all columns.
package local

import (
	"context"
	"errors"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/fdsvrg"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
)

// Support returns the functions by which a process that owns all columns compares FD-SVRG jobs. It
// compares a job with the minimum of its loss on all columns in one place, and on each party's own
// columns.
func Support() local.LocalSupport {
	return local.LocalSupport{Name: fdsvrg.Protocol().Name(), Compare: pool.Columns(fitted)}
}

// fitted returns the metrics of the linear model that minimises the job's loss on the columns of a
// split.
func fitted(ctx context.Context, j *job.Job, s method.Split) (learner.Metrics, error) {
	if s.Set.Labels == nil {
		return nil, pool.ErrNoLabels
	}
	p, err := pool.Prepare(j, []method.Split{s}, []method.Split{s})
	if err != nil {
		return nil, err
	}
	train := pool.Count([]method.Split{s}, false)
	out, err := learner.OutputsOf(j, p.Labels[:train])
	if err != nil {
		return nil, fault.BadInput(err)
	}
	on, params := learner.OptimizerParamsOf(j)
	loss, err := on.Loss()
	if err != nil {
		return nil, err
	}
	f, err := linear.Fit(features(fdsvrg.WithOnes{Rows: p.X}, 0, train), out.Y, linear.Params{Loss: loss, Lambda: params.Lambda, Tol: 1e-4, MaxPasses: 1000, Interrupt: ctx.Err})
	if err != nil && !errors.Is(err, linear.ErrNotConverged) {
		return nil, learner.ExplainFailure(ctx, err)
	}
	n, _ := p.X.Shape()
	return out.Measure(linear.Decide(features(fdsvrg.WithOnes{Rows: p.X}, train, n), f.Coefficients), p.Labels[train:])
}

// features returns a range of rows as a matrix with one row for each column. The range excludes
// end.
func features(rows linalg.Rows, first, end int) linear.Dense[float64] {
	_, width := rows.Shape()
	m, row := linalg.New[float64](width, end-first), make([]float64, width)
	for i := first; i < end; i++ {
		rows.ReadRow(i, row)
		for c, v := range row {
			m.Row(c)[i-first] = v
		}
	}
	return linear.Dense[float64]{M: m}
}
