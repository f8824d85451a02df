package moments

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// Bins is the number of bins of a histogram of decisions between two classes. They are equally
// wide, from -Clip to Clip: targets are -1 and 1, and a regression seldom reaches twice as far.
// Decisions beyond count in the outer bins.
const Bins = 100

// CountDecisions counts the rows of two classes by the bins of their decisions, half the second
// output less the first. A row in the upper half of the bins is one that [Predict] gives the
// second class.
func CountDecisions(m feature.Map, s Solution, rows linalg.Rows, codes []int) ([2][]int, error) {
	counts := [2][]int{make([]int, Bins), make([]int, Bins)}
	if err := measurable(m, s, rows, len(codes)); err != nil {
		return counts, err
	}
	if s.Weights.Rows != 2 {
		return counts, fmt.Errorf("moments: a histogram of %d outputs; it takes two", s.Weights.Rows)
	}
	eachPanel(m, rows, func(lo int, phi linalg.Matrix[float64]) {
		f := s.At(phi)
		for i := range f.Rows {
			counts[codes[lo+i]][binOf(f.Row(i))]++
		}
	})
	return counts, nil
}

// binOf returns the bin of a decision, whose upper border belongs to the bin: 0 is of the first
// class.
func binOf(outputs []float64) int {
	d := (outputs[1] - outputs[0]) / 2
	if math.IsNaN(d) {
		return 0 // of outputs beyond all numbers, which no regression has
	}
	d = min(max(d, -Clip), Clip)
	return max(int(math.Ceil(d*Bins/(2*Clip)))+Bins/2-1, 0)
}

// RoundCounts returns the counts of bins in 1/Thousand of a row, with the rows up to each bin
// rounded as [RoundShare] does of all n rows: what a party adds to a sum in place of counts.
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
