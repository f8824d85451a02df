package moments

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// Bins is the number of bins in a histogram of decisions between two classes. They are equally
// wide, from -Clip to Clip: targets are -1 and 1, and a regression seldom gives twice as much.
// Decisions outside this range are counted in the first or the last bin.
const Bins = 100

// CountDecisions counts the rows of two classes by bins of their decisions. A decision is half the
// difference of the second and the first output.
func CountDecisions(m feature.Mapping, s Solution, rows linalg.Rows, codes []int) ([2][]int, error) {
	counts := [2][]int{make([]int, Bins), make([]int, Bins)}
	if err := checkSizes(m, s, rows, len(codes)); err != nil {
		return counts, err
	}
	if s.Weights.Rows != 2 {
		return counts, fmt.Errorf("moments: the solution has %d outputs; a histogram needs two", s.Weights.Rows)
	}
	eachPanel(m, rows, func(lo int, phi linalg.Matrix[float64]) {
		f := s.At(phi)
		for i := range f.Rows {
			counts[codes[lo+i]][binOf(f.Row(i))]++
		}
	})
	return counts, nil
}

// binOf returns the bin of the decision that follows from the outputs. A bin includes its upper
// border: 0 belongs to the first class.
func binOf(outputs []float64) int {
	d := (outputs[1] - outputs[0]) / 2
	if math.IsNaN(d) {
		return 0 // only an overflow makes NaN; outputs of regressions are finite
	}
	d = min(max(d, -Clip), Clip)
	return max(int(math.Ceil(d*Bins/(2*Clip)))+Bins/2-1, 0)
}

// RoundCounts returns the rounded counts of bins, in units of 1/Thousand of a row. It rounds the
// cumulative counts with [RoundShare]; n is the number of all rows. A party adds the rounded counts
// to sums instead of the exact counts.
func RoundCounts(counts []int, n int) []int64 {
	out := make([]int64, len(counts))
	rows, before := 0, int64(0)
	for i, c := range counts {
		rows += c
		upTo := RoundShare(rows, n)
		out[i], before = upTo-before, upTo
	}
	return out
}
