package kmeans

import (
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// Rows that differ only by rounding count once, and the count stops where it is asked to.
func TestDistinct(t *testing.T) {
	t.Parallel()
	rows := [][]float64{{.1, .7}, {.1, .7}, {.3, .2}, {.3, .2}, {.1, .7}, {.1, .700001}}
	k := linalg.New[float64](len(rows), len(rows))
	for i, a := range rows {
		for j, b := range rows {
			k.Row(i)[j] = (a[0]*b[0] + a[1]*b[1]) * (1 + float64((i+j)%3)*0x1p-52)
		}
	}
	for most, want := range map[int]int{1: 1, 2: 2, 3: 3, 6: 3} {
		if n := Distinct(kernel.Dense{K: k}, most); n != want {
			t.Errorf("%d rows differ, counted up to %d, want %d", n, most, want)
		}
	}
}
