package bench

import (
	"context"

	"github.com/mercer-fl/mercer/internal/catalogue"
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

func examined(list []exam, lib catalogue.Library, pages curvePages) []scene {
	var cases []scene
	for _, e := range list {
		cases = append(cases, scene{e.name, func(ctx context.Context) (race, error) { return raceExam(ctx, e, lib, pages) }})
	}
	return cases
}
