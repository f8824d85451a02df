package stage

import (
	"context"
	"math"

	"github.com/mercer-fl/mercer/internal/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/prg"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// LearnRandom is what a job of protocol fdskl comes to with all columns in one
// place, for programs that own all the data: rows that are held out come last. Its
// directions are other ones than the job's, of the same law. It soon ends when ctx
// does, with an error that wraps that of ctx.
func LearnRandom(ctx context.Context, j *job.Job, rows linalg.Rows, labels []string, train int) (Learned, error) {
	t, err := newTraining(j, labels, train, j.Hash())
	if err != nil {
		return Learned{}, fault.BadInput(err)
	}
	d, err := rehearsed(j, linalg.Pick(rows, rowsFrom(0, train)))
	if err != nil {
		return Learned{}, err
	}
	source, err := d.phases(rows, job.As[*fdsklKeys](j.Protocol).Bits)
	if err != nil {
		return Learned{}, err
	}
	if err := answerAll(ctx, t, source, job.As[*fdsklKeys](j.Protocol).Bits/8); err != nil {
		return Learned{}, err
	}
	got, err := t.learn(ctx.Err)
	if err != nil {
		return Learned{}, learner.Unlearnt(ctx, err)
	}
	m, err := t.outputs().Measure(got.decisions, labels[train:])
	return Learned{m, got.left}, err
}

// rehearsed are directions by a key that follows from the job, with gamma
// measured by all columns.
func rehearsed(j *job.Job, training linalg.Rows) (directionsOf, error) {
	var all declared
	if unit := j.Kernel.GammaUnit; unit != "" {
		all.list = []declaration{{spread: spreadOf(training, unit)}}
	}
	k, err := gammaOf(j, all)
	return directionsOf{kernel: k, key: j.Hash(), common: prg.Derive(j.Hash(), "fdskl/rehearsal")}, err
}

// answeredAtOnce is how many rows one answer is of.
const answeredAtOnce = 1 << 12

// answerAll answers all that a schedule asks for, until ctx ends.
func answerAll(ctx context.Context, s fdskl.Schedule, source fdskl.Source, size int) error {
	for q, more := s.Next(); more; q, more = s.Next() {
		var rows []int
		for _, span := range q.Rows {
			rows = append(rows, rowsFrom(span.First, span.First+span.Count)...)
		}
		words := make([]byte, min(len(rows), answeredAtOnce)*q.Directions.Count*size)
		for len(rows) > 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(len(rows), answeredAtOnce)
			part := words[:n*q.Directions.Count*size]
			source.Block(part, rows[:n], q.Directions.First, q.Directions.Count)
			s.Answer(rows[:n], part)
			rows = rows[n:]
		}
	}
	return nil
}

// Bounds on what an exposure is measured by.
const (
	exposedRows  = 256
	exposedPairs = 1 << 12
)

// ExposeRandom measures what the label holder of a job of protocol fdskl finds
// out about the other parties' columns: all is the rows in one place, of which its
// own columns come first.
func ExposeRandom(ctx context.Context, j *job.Job, all linalg.Rows, own int) (fdskl.Exposure, error) {
	n, width := all.Shape()
	n = min(n, exposedRows)
	rows := linalg.New[float64](n, width)
	for i := range n {
		all.ReadRow(i, rows.Row(i))
	}
	d, err := rehearsed(j, rows)
	if err != nil {
		return fdskl.Exposure{}, err
	}
	everything, err := d.phases(rows, job.As[*fdsklKeys](j.Protocol).Bits)
	if err != nil {
		return fdskl.Exposure{}, err
	}
	part, err := d.phases(linalg.Matrix[float64]{Rows: n, Cols: own, Stride: width, Data: rows.Data}, job.As[*fdsklKeys](j.Protocol).Bits)
	if err != nil {
		return fdskl.Exposure{}, err
	}
	params, err := fdskl.NewParams(fdskl.Spec{Bits: job.As[*fdsklKeys](j.Protocol).Bits, Rows: n, Directions: ownDirections(j)})
	if err != nil {
		return fdskl.Exposure{}, err
	}
	truth, err := similarity(d.kernel)
	if err != nil {
		return fdskl.Exposure{}, err
	}
	table := fdskl.NewTable(params)
	if err := answerAll(ctx, table, everything, job.As[*fdsklKeys](j.Protocol).Bits/8); err != nil {
		return fdskl.Exposure{}, err
	}
	return table.Expose(part, rowPairs(n), func(a, b int) float64 { return truth(rows.Row(a)[own:], rows.Row(b)[own:]) }), nil
}

// rowPairs are different rows, two at a time.
func rowPairs(n int) [][2]int {
	var pairs [][2]int
	for step := 1; step < n && len(pairs) < exposedPairs; step++ {
		for i := 0; i+step < n && len(pairs) < exposedPairs; i++ {
			pairs = append(pairs, [2]int{i, i + step})
		}
	}
	return pairs
}

// similarity is a kernel as a function of two rows.
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
