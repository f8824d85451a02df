package local

import (
	"context"
	"math"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/fdskl"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
	fdsklmachines "github.com/mercer-fl/mercer/protocol/fdskl"
)

// Support returns the functions by which a process that owns all columns compares FDSKL jobs.
func Support() local.LocalSupport {
	return local.LocalSupport{Name: fdskl.Protocol().Name(), Compare: compareJob}
}

// compareJob compares a job with trainings on all parties' columns together and on each party's own
// columns, if the job asks for them. Each training draws its own directions. Decisions are not compared, because other
// directions give other decisions. compareJob also measures the label holder's exposure (see expose). If
// the job asks for it, compareJob also fits a learner with the exact kernel, to show the cost of random
// features.
func compareJob(ctx context.Context, c local.Comparison) error {
	j, own, r := c.Job, c.Splits, c.Result
	all, err := pool.Beside(own)
	if err != nil {
		return err
	}
	learnt := labelledRows(j, all)
	if j.Compares(job.Pooled) {
		pooled, err := trainRandom(ctx, j, learnt)
		if err != nil {
			return err
		}
		r.Pooled, r.Warnings = pooled.Metrics, append(r.Warnings, pooled.Warnings("the training in one place")...)
	}
	if j.Compares(job.ExactKernel) {
		if r.ExactKernel, err = exactKernel(ctx, j, learnt); err != nil {
			return err
		}
	}
	if j.Compares(job.Alone) {
		if err := addAlone(ctx, c); err != nil {
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
	r.Prepared.Leak(r.Leakage)
	return nil
}

// labelledRows returns the labelled rows if labels are spread, and otherwise all rows.
func labelledRows(j *job.Job, s method.Split) method.Split {
	if !j.Data.Spread || s.Set.Labels == nil {
		return s
	}
	rows := s.Set.Labelled()
	return method.Split{Set: s.Set.Subset(rows), Test: linalg.At(s.Test, rows)}
}

// exactKernel returns the metrics of a learner with the job's exact kernel on all parties' columns.
// The learner is a support vector machine for classes, or kernel ridge regression for
// numbers.
func exactKernel(ctx context.Context, j *job.Job, all method.Split) (learner.Metrics, error) {
	on, _ := learner.OptimizerParamsOf(j)
	exact := *j
	exact.Learner = on.Exact(float64(pool.Count([]method.Split{all}, false)))
	f, err := pool.Fit(ctx, &exact, []method.Split{all}, []method.Split{all})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return f.Measure()
}

// trainRandom trains on random features of all the columns of a table.
func trainRandom(ctx context.Context, j *job.Job, s method.Split) (fdskl.Learned, error) {
	if s.Set.Labels == nil {
		return fdskl.Learned{}, pool.ErrNoLabels
	}
	p, err := pool.Prepare(j, []method.Split{s}, []method.Split{s})
	if err != nil {
		return fdskl.Learned{}, err
	}
	return learnRandom(ctx, j, p.X, p.Labels, pool.Count([]method.Split{s}, false))
}

// learnRandom trains and evaluates a model on random features of all parties' columns. It learns as
// an fdskl job would. Held-out rows come last. learnRandom draws its own directions from the
// distribution of the job's directions. After ctx ends it soon returns an error that wraps ctx's
// error.
func learnRandom(ctx context.Context, j *job.Job, rows linalg.Rows, labels []string, train int) (fdskl.Learned, error) {
	t, err := fdskl.NewSolver(j, labels, train, j.Hash())
	if err != nil {
		return fdskl.Learned{}, fault.BadInput(err)
	}
	d, err := directionsFromHash(j, linalg.Pick(rows, linalg.Range(0, train)))
	if err != nil {
		return fdskl.Learned{}, err
	}
	source, err := d.Phases(rows, job.As[*fdskl.Keys](j.Protocol).Bits)
	if err != nil {
		return fdskl.Learned{}, err
	}
	if err := fdskl.AnswerAll(ctx, t, source, job.As[*fdskl.Keys](j.Protocol).Bits/8); err != nil {
		return fdskl.Learned{}, err
	}
	got, err := t.Learn(ctx.Err)
	if err != nil {
		return fdskl.Learned{}, learner.ExplainFailure(ctx, err)
	}
	m, err := t.Outputs().Measure(got.Decisions, labels[train:])
	return fdskl.Learned{Metrics: m, Left: got.Left}, err
}

// addAlone adds to the result the metrics that each party reaches with only its own columns.
func addAlone(ctx context.Context, c local.Comparison) error {
	return pool.Alone(ctx, c, func(i int) (method.Alone, error) {
		own := labelledRows(c.Job, c.Splits[i])
		learned, err := trainRandom(ctx, c.Job, own)
		c.Result.Warnings = append(c.Result.Warnings, learned.Warnings("the training of "+c.Job.Parties()[i]+" alone")...)
		return method.Alone{Rows: pool.Count([]method.Split{own}, false), Metrics: learned.Metrics}, err
	})
}

// directionsFromHash returns directions that are drawn from the job's hash. If gamma has a unit, the unit
// is measured over all columns of the given rows.
func directionsFromHash(j *job.Job, training linalg.Rows) (fdskl.Directions, error) {
	unit := 0.0
	if j.Kernel.GammaUnit != "" {
		unit = fdskl.Unit(training, j.Kernel.GammaUnit)
	}
	gamma, err := fdskl.Gamma(j, unit)
	return fdskl.DirectionsOf(j, columns.Directions{Gamma: gamma, Key: j.Hash(), Common: prg.Derive(j.Hash(), "fdskl/rehearsal")}), err
}

// expose samples at most these numbers of rows and of row pairs.
const (
	exposedRows  = 256
	exposedPairs = 1 << 12
)

// expose measures how well the label holder of an fdskl job can compute the kernel over the other parties'
// columns. The matrix data holds all columns of the rows, with the label holder's columns first.
func expose(ctx context.Context, j *job.Job, data linalg.Rows, own int) (fdsklmachines.Exposure, error) {
	n, width := data.Shape()
	n = min(n, exposedRows)
	rows := linalg.New[float64](n, width)
	for i := range n {
		data.ReadRow(i, rows.Row(i))
	}
	d, err := directionsFromHash(j, rows)
	if err != nil {
		return fdsklmachines.Exposure{}, err
	}
	truth, err := similarity(d.Kernel)
	if err != nil {
		return fdsklmachines.Exposure{}, err
	}
	table, part, err := answeredPhases(ctx, j, d, rows, own)
	if err != nil {
		return fdsklmachines.Exposure{}, err
	}
	return table.Expose(part, rowPairs(n), func(a, b int) float64 { return truth(rows.Row(a)[own:], rows.Row(b)[own:]) }), nil
}

// answeredPhases returns a table of the phases that the label holder receives. The returned source
// computes the phases of the label holder's own columns.
func answeredPhases(ctx context.Context, j *job.Job, d fdskl.Directions, rows linalg.Matrix[float64], own int) (*fdsklmachines.Table, fdsklmachines.Source, error) {
	bits := job.As[*fdskl.Keys](j.Protocol).Bits
	everything, err := d.Phases(rows, bits)
	if err != nil {
		return nil, nil, err
	}
	part, err := d.Phases(linalg.Matrix[float64]{Rows: rows.Rows, Cols: own, Stride: rows.Stride, Data: rows.Data}, bits)
	if err != nil {
		return nil, nil, err
	}
	params, err := fdsklmachines.NewParams(fdsklmachines.Spec{Bits: bits, Rows: rows.Rows, Directions: fdskl.OwnDirections(j)})
	if err != nil {
		return nil, nil, err
	}
	table := fdsklmachines.NewTable(params)
	return table, part, fdskl.AnswerAll(ctx, table, everything, bits/8)
}

// rowPairs returns pairs of row indices. The two indices of a pair differ.
func rowPairs(n int) [][2]int {
	var pairs [][2]int
	for step := 1; step < n && len(pairs) < exposedPairs; step++ {
		for i := 0; i+step < n && len(pairs) < exposedPairs; i++ {
			pairs = append(pairs, [2]int{i, i + step})
		}
	}
	return pairs
}

// similarity returns a kernel as a function of two rows.
func similarity(k job.Kernel) (func(x, z []float64) float64, error) {
	if k.Name == job.LaplacianProduct {
		return func(x, z []float64) float64 {
			sum := 0.0
			for i := range x {
				sum += math.Abs(x[i] - z[i])
			}
			return math.Exp(-k.Gamma * sum)
		}, nil
	}
	built, err := kernel.New(k.Spec())
	if err != nil {
		return nil, fault.BadInput(err)
	}
	return func(x, z []float64) float64 {
		return built.At(linalg.Dot(x, z), linalg.Dot(x, x), linalg.Dot(z, z))
	}, nil
}
