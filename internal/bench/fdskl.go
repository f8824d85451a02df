package bench

import (
	"context"
	"fmt"

	"github.com/mercer-fl/mercer/protocol/fdskl"
)

// MaxFDSKLRows bounds the rows of the benchmark.
const MaxFDSKLRows = fdskl.MaxRows

// grownRows is up to where growth with the rows is measured.
const grownRows = 20_000

// FDSKL measures training on columns that four workers hold, all in this
// process, without a network between them: how mode cached grows with rows,
// directions and columns, and what it takes with that many rows, beside what a
// million may take.
func FDSKL(rows int) Benchmark {
	most, whole := wholeTask, wholeTask
	most.rows, whole.rows = grownRows, rows
	return fdsklOf(most, whole)
}

// fdsklOf measures growth up to one size, then another as a whole.
func fdsklOf(most, whole cachedSize) Benchmark {
	var b Benchmark
	for _, g := range growths(most) {
		b.cases = append(b.cases, scene{"growth with " + g.what, func(context.Context) (race, error) { return g.race() }})
	}
	b.cases = append(b.cases, scene{fmt.Sprint(whole), func(context.Context) (race, error) { return raceWhole(whole) }})
	return b
}
