package boost

import (
	"slices"
	"sort"

	"github.com/mercer-fl/mercer/linalg"
)

// MaxBins is the greatest number of bins of a column.
const MaxBins = 256

// Columns is a table of binned numbers, stored column by column.
type Columns struct {
	Codes [][]uint8   // bin of each row, for each column
	Cuts  [][]float64 // upper bounds of all bins but the last, ascending, for each column
}

// Bins returns the number of bins of a column.
func (c Columns) Bins(column int) int { return len(c.Cuts[column]) + 1 }

// Bin cuts every column of rows into at most the given number of bins. The argument training is the
// number of training rows, which come first. The cuts depend on the training rows only; the other rows
// are sorted into these bins.
func Bin(rows linalg.Rows, training, bins int) Columns {
	n, width := rows.Shape()
	c := Columns{Codes: make([][]uint8, width), Cuts: make([][]float64, width)}
	values := make([][]float64, width)
	for f := range width {
		values[f], c.Codes[f] = make([]float64, n), make([]uint8, n)
	}
	row := make([]float64, width)
	for i := range n {
		rows.ReadRow(i, row)
		for f, v := range row {
			values[f][i] = v
		}
	}
	linalg.Each(width, 1, func(f int) {
		c.Cuts[f] = Cuts(values[f][:training], bins)
		for i, v := range values[f] {
			c.Codes[f][i] = uint8(sort.SearchFloat64s(c.Cuts[f], v))
		}
	})
	return c
}

// Cuts returns the values that cut a column into at most the given number of bins. The bins hold
// about equal numbers of values. If the column has no more distinct values than bins, each distinct
// value has a bin. A cut is halfway between two neighbouring values.
func Cuts(values []float64, bins int) []float64 {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	distinct := slices.Compact(slices.Clone(sorted))
	bins = min(bins, MaxBins)
	if len(distinct) <= bins {
		return halves(distinct)
	}
	var cuts []float64
	begin := 0 // index in sorted of the first value of the current bin
	for i := 1; i < len(sorted) && len(cuts) < bins-1; i++ {
		left := len(sorted) - begin
		if sorted[i] != sorted[i-1] && (i-begin)*(bins-len(cuts)) >= left {
			cuts, begin = append(cuts, cutBetween(sorted[i-1], sorted[i])), i
		}
	}
	return cuts
}

func halves(distinct []float64) []float64 {
	var cuts []float64
	for i := 1; i < len(distinct); i++ {
		cuts = append(cuts, cutBetween(distinct[i-1], distinct[i]))
	}
	return cuts
}

// cutBetween returns a number c with a <= c < b. It takes the middle, if rounding allows it.
func cutBetween(a, b float64) float64 {
	if m := a/2 + b/2; m >= a && m < b {
		return m
	}
	return a
}
