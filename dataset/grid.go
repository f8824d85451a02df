package dataset

import (
	"math"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
)

// A column is on a grid if each value is the column's minimum plus an integer multiple of one step.
// Examples are integers, counts, one-hot codes, 8-bit pixels, decimals printed with few places, and
// all of these after a scaling of the column. Rows on a grid generate a lattice, which can be
// recovered from their Gram matrix. The functions below can miss the grid of a column, if the grid has more
// than gridLevels levels or if values were rounded after scaling.
const (
	gridLevels    = 1 << 16 // most steps from a column's minimum to its maximum
	gridTolerance = 1e-9    // largest distance of a value from the grid, as a share of the range
	// gridChance bounds the probability that random values fit a grid as well as the column
	// does. Three values always fit some grid of 2^16 levels within the tolerance; only a coarse
	// or exact fit is evidence.
	gridChance = 1e-5
)

// axis describes the grid of one column.
type axis struct {
	step   float64
	levels int // steps from minimum to maximum; 0 for a constant column, noGrid for one without a grid
}

const noGrid = -1

func (a axis) varies() bool { return a.levels != 0 }

// GridColumns counts the varying columns of t that are on a grid, and all columns that vary. A grid has at
// most 2^16 levels, and values lie on it within 10^-9 of the column's range and the rounding of float64.
func GridColumns(t Table) (onGrid, varying int) { return countGrids(measureAll(t)) }

func countGrids(axes []axis) (onGrid, varying int) {
	for _, a := range axes {
		if a.varies() {
			varying++
		}
		if a.levels > 0 {
			onGrid++
		}
	}
	return onGrid, varying
}

func measureAll(t Table) []axis {
	axes := make([]axis, t.Cols())
	switch d := t.(type) {
	case *Dense:
		measureDense(d.cells, axes)
	case *Dense32:
		measureDense(d.cells, axes)
	default:
		measureSparse(t, axes)
	}
	return axes
}

// measureDense finds the grids of a dense table's columns on all cores. It gathers several neighbouring
// columns at a time, because their cells share cache lines.
func measureDense[T linalg.Float](d dense[T], axes []axis) {
	const maxColumns = 16      // columns gathered at a time
	const maxNumbers = 1 << 20 // numbers gathered at a time, unless one column has more
	grain := max(1, min(maxColumns, maxNumbers/max(d.m.Rows, 1)))
	linalg.For(d.m.Cols, grain, func(lo, hi int) {
		columns := make([]float64, (hi-lo)*d.m.Rows)
		for i := range d.m.Rows {
			for b, v := range d.row(i)[lo:hi] {
				columns[b*d.m.Rows+i] = float64(v)
			}
		}
		for j := lo; j < hi; j++ {
			axes[j] = measure(distinctCounts(columns[(j-lo)*d.m.Rows:][:d.m.Rows]))
		}
	})
}

// measureSparse finds the grids of a sparse table's columns from the stored entries. Zeros that are
// not stored count as one value of their column.
func measureSparse(t Table, axes []axis) {
	columns := make([][]float64, t.Cols())
	for i := range t.Rows() {
		t.Each(i, func(j int, v float64) { columns[j] = append(columns[j], v) })
	}
	for j, column := range columns {
		if len(column) < t.Rows() {
			column = append(column, 0)
		}
		axes[j] = measure(column)
	}
}

// distinctCounts returns the distinct values in ascending order if all are integers from 0 to 255,
// such as pixels. It returns other values unchanged. Sorting would take most of the time for
// images.
func distinctCounts(values []float64) []float64 {
	var seen [256]bool
	for _, v := range values {
		if !(v >= 0 && v <= 255) || v != math.Trunc(v) {
			return values
		}
		seen[int(v)] = true
	}
	values = values[:0]
	for v, ok := range seen {
		if ok {
			values = append(values, float64(v))
		}
	}
	return values
}

// measure finds the coarsest grid of a column. It sorts values.
func measure(values []float64) axis {
	if len(values) == 0 {
		return axis{}
	}
	slices.Sort(values)
	low, high := values[0], values[len(values)-1]
	span := high - low
	rounding := ulp * max(math.Abs(low), math.Abs(high)) // rounding error of a difference of two values
	if span <= 2*rounding {
		return axis{}
	}
	if span-span != 0 { // the span is infinite, or a value is a gap, which is NaN
		return axis{levels: noGrid}
	}
	tolerance := gridTolerance + rounding/span
	inner, gap := positions(values, span, tolerance)
	if levels := fit(inner, gap, tolerance); levels > 0 {
		return axis{step: span / float64(levels), levels: levels}
	}
	return axis{levels: noGrid}
}

const ulp = 1.0 / (1 << 52)

// positions scales sorted values to [0, 1]. It returns the distinct positions strictly inside, and
// the smallest gap between neighbours, ends included.
func positions(values []float64, span, tolerance float64) (inner []float64, gap float64) {
	gap = 1
	last := 0.0
	for _, v := range values {
		x := (v - values[0]) / span
		if x-last <= tolerance || 1-x <= tolerance {
			continue
		}
		gap = min(gap, x-last)
		inner = append(inner, x)
		last = x
	}
	return inner, min(gap, 1-last)
}

// fit returns the smallest number of levels whose grid fits all positions, or 0 if there is none.
// The positions are then multiples of 1/levels. It ignores a fit that could be due to chance. No
// step can be wider than the gap, so most columns leave few numbers of levels to try, often none.
func fit(inner []float64, gap, tolerance float64) int {
	least := int(math.Ceil(1 / (gap + 2*tolerance)))
	for levels := least; levels <= gridLevels; levels++ {
		miss, ok := farthest(inner, float64(levels), tolerance)
		if ok && (len(inner) == 0 || chance(len(inner), levels, miss) < math.Log(gridChance)) {
			return levels
		}
	}
	return 0
}

// farthest returns the largest distance of a position from a multiple of 1/levels. It returns false
// as soon as a distance exceeds the tolerance.
func farthest(inner []float64, levels, tolerance float64) (miss float64, ok bool) {
	for _, x := range inner {
		k := x * levels
		off := math.Abs(k-math.Floor(k+0.5)) / levels
		if off > tolerance {
			return 0, false
		}
		miss = max(miss, off)
	}
	return miss, true
}

// chance returns the logarithm of the expected number of grids that fit m random positions. The
// positions are uniform, the grids have L levels, for L from 1 to levels, and all positions fit within
// miss. The number is the sum over L of (2 miss L)^m, approximated by an integral.
func chance(m, levels int, miss float64) float64 {
	miss = max(miss, ulp)
	return float64(m)*math.Log(2*miss*float64(levels)) + math.Log(float64(levels)/float64(m+1))
}

// commonStep returns the largest step that divides the steps of all columns, or 0. With this step,
// each column has at most gridLevels levels.
func commonStep(axes []axis) float64 {
	least := math.Inf(1)
	for _, a := range axes {
		if a.levels > 0 {
			least = min(least, a.step)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	for q := 1; q <= gridLevels; q++ {
		divides, fits := common(axes, least/float64(q))
		if !fits {
			return 0
		}
		if divides {
			return least / float64(q)
		}
	}
	return 0
}

// common reports whether step divides the steps of all columns. It also reports whether each column
// has at most gridLevels levels with this step.
func common(axes []axis, step float64) (divides, fits bool) {
	divides = true
	for _, a := range axes {
		if a.levels <= 0 {
			continue
		}
		ratio := a.step / step
		if ratio*float64(a.levels) > gridLevels*(1+gridTolerance) {
			return false, false
		}
		whole := math.Floor(ratio + 0.5)
		divides = divides && math.Abs(ratio-whole) <= gridTolerance*ratio
	}
	return divides, true
}
