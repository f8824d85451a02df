package method

import "github.com/mercer-fl/mercer/dataset"

// Facts describe a party's data for the statement of the job's leakage. The server could
// derive each fact from the data it holds.
type Facts struct {
	Known bool // false: this stage has nothing to tell
	Grid  Grid
	// Features is 0 unless the job's rows outnumber the features: then the
	// rank of the Gram matrix gives it away, and before that it is not told.
	Features uint32
}

// Grid tells how many of the columns that vary hold multiples of a step: integers, counts, one-hot
// codes, pixels. A larger value is the worse news.
type Grid uint8

// The values of Grid.
const (
	NoGrid Grid = iota
	SomeGrid
	AllGrid
)

// Join returns what both sets of facts tell together, the worse news of two.
func (f Facts) Join(other Facts) Facts {
	if !other.Known {
		return f
	}
	return Facts{Known: true, Grid: max(f.Grid, other.Grid), Features: max(f.Features, other.Features)}
}

// GridOf tells how many of a table's varying columns hold multiples of a step.
func GridOf(t dataset.Table) Grid {
	grid, columns := dataset.GridColumns(t)
	switch {
	case grid == 0:
		return NoGrid
	case grid < columns:
		return SomeGrid
	}
	return AllGrid
}
