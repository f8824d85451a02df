package metrics

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Resamples is the number of samples that a bootstrap draws.
const Resamples = 1000

// Interval is a range that contains a figure with 95 % confidence.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Bootstrap returns the 95 % percentile bootstrap interval of each figure. The interval is the
// range between the 2.5 and the 97.5 percentile of the figure over [Resamples] samples. It
// interpolates linearly like numpy, as scipy.stats.bootstrap with method "percentile". A sample
// draws rows with replacement, as many as there are.
//
// The bootstrap is stratified: rows with the same number in strata are drawn among themselves, so
// that each sample has as many rows of each stratum as there are. Equal numbers in strata make a
// plain bootstrap. The model is not trained again: intervals show how much the choice of held-out
// rows moves a figure, and nothing about the choice of training rows. Rows of one person are not
// kept together.
//
// The samples follow from the seed: each draw of one of n rows is the upper half of the 128-bit
// product of n and the next number of a PCG generator. figures receives the number of times that
// each row was drawn and fills in values, NaN for a figure without a value. A figure without a
// value in more than half of the samples has no interval, nil; otherwise the samples without a
// value are ignored. A figure with the same value in all samples has no interval either, because an
// interval of no width would claim certainty. [Wilson] has intervals of proportions.
func Bootstrap(strata []int, seed uint64, count int, figures func(times []int, values []float64)) ([]*Interval, error) {
	groups, err := grouped(strata)
	if err != nil {
		return nil, err
	}
	source := rand.NewPCG(seed, 0)
	times, values, drawn := make([]int, len(strata)), make([]float64, count), make([][]float64, count)
	for range Resamples {
		clear(times)
		for _, rows := range groups {
			for range rows {
				at, _ := bits.Mul64(source.Uint64(), uint64(len(rows)))
				times[rows[at]]++
			}
		}
		figures(times, values)
		for i, v := range values {
			if !math.IsNaN(v) {
				drawn[i] = append(drawn[i], v)
			}
		}
	}
	out := make([]*Interval, count)
	for i, v := range drawn {
		out[i] = middle(v)
	}
	return out, nil
}

// grouped returns the rows of each stratum in ascending order. The lowest stratum comes first.
func grouped(strata []int) ([][]int, error) {
	if err := sameRows(len(strata), len(strata)); err != nil {
		return nil, err
	}
	var groups [][]int
	place := make(map[int]int)
	for i, s := range slices.Compact(slices.Sorted(slices.Values(strata))) {
		place[s] = i
		groups = append(groups, nil)
	}
	for row, s := range strata {
		groups[place[s]] = append(groups[place[s]], row)
	}
	return groups, nil
}

// middle returns the range that contains the middle 95 % of the values. It returns nil if most
// samples had no value, or if all values are equal.
func middle(values []float64) *Interval {
	if len(values) < Resamples/2 {
		return nil
	}
	slices.Sort(values)
	if values[0] == values[len(values)-1] {
		return nil
	}
	return &Interval{Quantile(values, 0.025), Quantile(values, 0.975)}
}
