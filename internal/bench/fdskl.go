package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/mercer-fl/mercer/internal/catalogue"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// MaxFDSKLRows bounds the rows of the benchmark.
const MaxFDSKLRows = fdskl.MaxRows

// grownRows is up to where growth with the rows is measured.
const grownRows = 20_000

// FDSKL measures training on columns that four workers hold, all in this process, without a
// network between them: how the cost of mode cached grows with rows, directions and columns,
// and its cost with that many rows, beside the cost allowed for a million. With a folder it
// also follows the test error of all modes on three data sets, one of them from lib, and
// writes pages with the curves there.
func FDSKL(rows int, lib catalogue.Library, folder string) Benchmark {
	most, whole := wholeTask, wholeTask
	most.rows, whole.rows = grownRows, rows
	b := fdsklOf(most, whole)
	if folder != "" {
		b.cases = append(b.cases, examined(exams(), lib, curvePages{folder})...)
	}
	return b
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

func examined(list []exam, lib catalogue.Library, pages curvePages) []scene {
	var cases []scene
	for _, e := range list {
		cases = append(cases, scene{e.name, func(ctx context.Context) (race, error) { return raceExam(ctx, e, lib, pages) }})
	}
	return cases
}

// raceExam studies every course once; nothing takes turns, since the error counts and not the
// time.
func raceExam(ctx context.Context, e exam, lib catalogue.Library, pages curvePages) (race, error) {
	l, err := e.lesson(lib)
	if err := errors.Join(err, pages.open()); err != nil {
		return race{}, err
	}
	got := learnt{lesson: l}
	for _, c := range l.courses {
		s, err := l.study(ctx, c)
		if err != nil {
			return race{}, fmt.Errorf("%s, %s: %w", l.name, c.mode, err)
		}
		got.curves = append(got.curves, s)
	}
	if err := pages.write(got); err != nil {
		return race{}, err
	}
	return race{rows: func([]span) []Row { return got.rows() }}, nil
}

// exams are the data sets with the settings that a small search led to: length
// of .5 or 1, rates 4 apart, logistic loss or smooth hinge.
func exams() []exam {
	return []exam{
		{name: "wdbc", source: catalogue.Bundled + "wdbc", positive: []string{"1"}, standardise: true, courses: []course{
			faithful(1, .25).beside(.028),
			block(1, 4).beside(.014),
			precond(1).beside(.007),
			inPasses(1).beside(.007),
		}},
		{name: "digits", source: catalogue.Bundled + "digits", positive: []string{"1", "3", "5", "7", "9"}, courses: []course{
			faithful(1, .25).beside(.127),
			block(.5, 16).beside(.011),
			precond(.5).beside(.004),
			inPasses(.5).beside(0),
		}},
		{name: "phishing", source: "phishing/phishing", positive: []string{"1"}, courses: []course{
			faithful(1, 1).beside(.126),
			block(.5, 4).beside(.063),
			precond(.5).beside(.047),
			inPasses(.5).beside(.035),
		}},
	}
}

// faithful is the paper's algorithm: one row and one direction an iteration.
func faithful(length, rate float64) course {
	return course{mode: "faithful", rows: 1, block: 1, directions: 1 << 14, length: length, loss: linear.Logistic{}, rate: rate, lambda: 1e-5}
}

// block is the paper's algorithm with many rows and many directions an iteration.
func block(length, rate float64) course {
	return course{mode: "block", rows: 256, block: 32, directions: 2048, length: length, loss: linear.SmoothHinge{}, rate: rate, lambda: 1e-5}
}

// precond is block with Newton's step.
func precond(length float64) course {
	return course{mode: "precond", rows: 512, block: 64, directions: 2048, length: length, loss: linear.Logistic{}, rate: 1, rho: 1e-3}
}

// inPasses is mode cached.
func inPasses(length float64) course {
	return course{mode: "cached", directions: 2048, length: length, loss: linear.Logistic{}, lambda: 1e-6}
}

func (c course) beside(reference float64) course {
	c.reference = &reference
	return c
}
