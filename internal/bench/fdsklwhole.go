package bench

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/mercer-fl/mercer/learn/linear"
)

// The whole task, and the wall time and memory that it may take on two cores.
var wholeTask = cachedSize{rows: 1_000_000, columns: 100, directions: 1024, bits: 16}

const (
	wholeWall = 180     // seconds
	wholePeak = 4 << 10 // MiB
	// percent bounds the garbage that may gather, relative to the memory in use: the same
	// bound that simulate sets where rows are large.
	percent = 25
)

// raceWhole runs that task with as many rows as size has.
func raceWhole(size cachedSize) (race, error) {
	c, err := newClouds(size.rows, size.columns)
	if err != nil {
		return race{}, err
	}
	var last cachedFigures
	var edges []Row
	train := func(ctx context.Context) error {
		defer debug.SetGCPercent(debug.SetGCPercent(percent))
		r, err := c.train(ctx, size, linear.Params{Loss: linear.Logistic{}, Lambda: 1e-6})
		if err != nil {
			return err
		}
		last = r.cachedFigures
		edges, err = r.federation.asPlanned(size.String(), r.params, r.schedule.requests)
		return err
	}
	return race{runs: []run{train}, rows: func(best []span) []Row { return append(last.rows(best[0]), edges...) }}, nil
}

// rows returns the measurements of a training, and the figures that follow for the whole
// task.
func (r cachedFigures) rows(best span) []Row {
	name, as := r.size.String(), wholeTask
	more := float64(as.rows) / float64(r.size.rows)
	whole := as.String()
	if as != r.size {
		whole += ", extrapolated"
	}
	peak := r.peak + (more-1)*float64(r.size.held())*(1+percent/100.)
	return []Row{
		figure(name+", protocol, processor time", r.protocol.cpu, "s"),
		figure(name+", learning, processor time", r.learn.cpu, "s"),
		figure(name+", learning, passes", float64(r.passes), ""),
		figure(name+", wall on "+coresText(runtime.GOMAXPROCS(0)), best.wall, "s"),
		figure(name+", peak memory of all", r.peak/(1<<20), "MiB"),
		figure(whole+", target of wall", more*best.wall, "s").within(wholeWall),
		figure(whole+", processor time", more*best.cpu, "s"),
		figure(whole+", target of memory", peak/(1<<20), "MiB").within(wholePeak),
	}
}

// held counts the bytes that grow with the rows: the columns in float32, phases, targets,
// decisions, and each worker's mark of every row.
func (c cachedSize) held() int {
	return c.rows * (4*c.columns + c.directions*c.bits/8 + 2*8 + 4*fdsklWorkers)
}
