package metrics

import "fmt"

// AdjustedRand returns the Rand index of two groupings of the same rows, adjusted for chance
// (Hubert and Arabie, Comparing partitions, Journal of Classification 2, 1985, equation 5). It is 1
// for the same groups, whatever the groups' numbers are, about 0 for independent groupings, and
// below 0 for groupings that agree less than by chance. As in scikit-learn, it is 1 if both
// groupings have one group, or if both have only groups of one row. Groups are numbered from 0.
func AdjustedRand(a, b []int) (float64, error) {
	if err := sameRows(len(a), len(b)); err != nil {
		return 0, err
	}
	sizesA, sizesB, both := make(map[int]int), make(map[int]int), make(map[[2]int]int)
	for i, g := range a {
		if g < 0 || b[i] < 0 {
			return 0, fmt.Errorf("metrics: row %d is in groups %d and %d; groups must be numbered from 0", i, g, b[i])
		}
		sizesA[g]++
		sizesB[b[i]]++
		both[[2]int{g, b[i]}]++
	}
	pairs, pairsA, pairsB := pairsIn(both), pairsIn(sizesA), pairsIn(sizesB)
	all := float64(len(a)) * float64(len(a)-1) / 2
	if pairs == pairsA && pairs == pairsB {
		return 1, nil
	}
	expected := pairsA * pairsB / all
	return (pairs - expected) / ((pairsA+pairsB)/2 - expected), nil
}

// pairsIn counts the pairs of rows that are in the same group.
func pairsIn[K comparable](sizes map[K]int) float64 {
	var pairs int64 // integer, so that the sum does not depend on the order
	for _, n := range sizes {
		pairs += int64(n) * int64(n-1) / 2
	}
	return float64(pairs)
}
