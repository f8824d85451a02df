package metrics

import (
	"math"
	"testing"
)

// Values come from scikit-learn's adjusted_rand_score.
func TestAdjustedRand(t *testing.T) {
	for _, tt := range []struct {
		a, b []int
		want float64
	}{
		{[]int{0, 0, 1, 1}, []int{1, 1, 0, 0}, 1},
		{[]int{0, 0, 1, 2}, []int{0, 0, 1, 1}, 0.5714285714285714},
		{[]int{0, 0, 1, 1}, []int{0, 1, 0, 1}, -0.5},
		{[]int{0, 0, 0, 0}, []int{0, 1, 2, 3}, 0},
		{[]int{0, 0, 0}, []int{5, 5, 5}, 1},
		{[]int{0, 1, 2}, []int{2, 1, 0}, 1},
		{[]int{3}, []int{0}, 1},
	} {
		got, err := AdjustedRand(tt.a, tt.b)
		if err != nil || math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%v and %v: %v, %v; want %v", tt.a, tt.b, got, err, tt.want)
		}
		if back, _ := AdjustedRand(tt.b, tt.a); back != got {
			t.Errorf("%v and %v: %v one way, %v the other", tt.a, tt.b, got, back)
		}
	}
	for _, bad := range [][2][]int{{{0, 1}, {0}}, {nil, nil}, {{0, -1}, {0, 0}}} {
		if v, err := AdjustedRand(bad[0], bad[1]); err == nil {
			t.Errorf("%v: %v", bad, v)
		}
	}
}
