package metrics

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// NDCG returns the normalised discounted cumulated gain of the k items with the best scores. The
// gain is the sum of 1 / log2(rank + 1) over the relevant items. It is divided by the gain of the
// best order with the same number of relevant items. Items with equal scores keep their order. It
// returns an error if no item is relevant.
func NDCG(relevant []bool, scores []float64, k int) (float64, error) {
	top, total, err := bestItems(relevant, scores, k)
	if err != nil {
		return 0, err
	}
	gain, ideal := 0.0, 0.0
	for rank, item := range top {
		weight := 1 / math.Log2(float64(rank+2))
		if relevant[item] {
			gain += weight
		}
		if rank < total {
			ideal += weight
		}
	}
	return gain / ideal, nil
}

// RecallAt returns the share of the relevant items that are among the k items with the best scores.
// All relevant items count, even if there are more than k.
func RecallAt(relevant []bool, scores []float64, k int) (float64, error) {
	top, total, err := bestItems(relevant, scores, k)
	if err != nil {
		return 0, err
	}
	hits := 0
	for _, item := range top {
		if relevant[item] {
			hits++
		}
	}
	return float64(hits) / float64(total), nil
}

// bestItems returns the k items with the highest scores, and the number of relevant items.
func bestItems(relevant []bool, scores []float64, k int) (top []int, total int, err error) {
	if err := sameRows(len(relevant), len(scores)); err != nil {
		return nil, 0, err
	}
	if k < 1 {
		return nil, 0, fmt.Errorf("metrics: k is %d; it must be at least 1", k)
	}
	for i, s := range scores {
		if math.IsNaN(s) {
			return nil, 0, fmt.Errorf("metrics: the score of item %d is not a number", i)
		}
		if relevant[i] {
			total++
		}
		top = append(top, i)
	}
	if total == 0 {
		return nil, 0, fmt.Errorf("metrics: the %d items include no relevant item; a ranking needs at least one", len(scores))
	}
	slices.SortFunc(top, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	return top[:min(k, len(top))], total, nil
}
