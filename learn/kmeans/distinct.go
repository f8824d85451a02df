package kmeans

import (
	"slices"

	"github.com/mercer-fl/mercer/kernel"
)

// Distinct counts the rows of src that differ from each other in feature space by more than the
// rounding of the kernel. It stops at most. Fit fills more clusters than that with equal rows.
func Distinct(src kernel.Source, most int) int {
	const rounding = 64 * 0x1p-52 // of the terms of a squared distance
	k := matrix(src)
	var found []int
	for i := 0; i < k.Rows && len(found) < most; i++ {
		equal := slices.ContainsFunc(found, func(j int) bool {
			a, b := k.Row(i)[i], k.Row(j)[j]
			return a-2*k.Row(i)[j]+b <= rounding*(a+b)
		})
		if !equal {
			found = append(found, i)
		}
	}
	return len(found)
}
