package bench

import (
	"context"
	"runtime/debug"

	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// MaxFDSKLRows bounds the rows of the benchmark.
const MaxFDSKLRows = fdskl.MaxRows

// grownRows is up to where growth with the rows is measured.
const grownRows = 20_000

// FDSKL measures training on columns that four workers hold, all in this process, without a
// network between them: how the cost of mode cached grows with rows, directions and columns,
// and its cost with that many rows, beside the cost allowed for a million.
func FDSKL(rows int) Benchmark {
	most, whole := wholeTask, wholeTask
	most.rows, whole.rows = grownRows, rows
	return fdsklOf(most, whole)
}

// fdsklOf measures growth up to one size, then another as a whole.
func fdsklOf(most, whole cachedSize) Benchmark {
	var b Benchmark
	for _, g := range growths(most) {
		b.cases = append(b.cases, sceneOf("growth with "+g.what, g, growth.race))
	}
	b.cases = append(b.cases, sceneOf(whole.String(), whole, raceWhole))
	return b
}

// growths double one dimension twice. With few columns their products are little
// beside all else, so there are more.
func growths(full cachedSize) []growth {
	const passes = 5
	rows, directions, columns := growth{"rows", nil, passes}, growth{"directions", nil, passes}, growth{"columns", nil, passes}
	for _, part := range []int{4, 2, 1} {
		s := full
		s.rows /= part
		rows.sizes = append(rows.sizes, s)
		s = full
		s.directions /= part
		directions.sizes = append(directions.sizes, s)
		s = full
		s.rows, s.columns = full.rows/4, 16*full.columns/part
		columns.sizes = append(columns.sizes, s)
	}
	return []growth{rows, directions, columns}
}

// raceWhole runs that task with as many rows as size has.
func raceWhole(size cachedSize) (race, error) {
	c, err := newClouds(size.rows, size.columns)
	if err != nil {
		return race{}, err
	}
	var last cachedFigures
	var edges []Row
	train := func(context.Context) error {
		defer debug.SetGCPercent(debug.SetGCPercent(percent))
		r, err := c.train(size, linear.Params{Loss: linear.Logistic{}, Lambda: 1e-6})
		if err != nil {
			return err
		}
		last = r.cachedFigures
		edges, err = r.meeting.asPlanned(size.String(), r.params, r.schedule.requests)
		return err
	}
	return race{runs: []run{train}, rows: func(best []span) []Row { return append(last.rows(best[0]), edges...) }}, nil
}
