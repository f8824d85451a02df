package simd_test

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Values at any places, some behind the end, and none written behind the last.
func TestPickValues(t *testing.T) {
	onEachPath(t, func(t *testing.T, p simd.Path) {
		from := noise[float64](75, 4)
		for _, n := range []int{0, 1, 7, 8, 9, 100} {
			places, want := make([]uint32, n), make([]float64, n+1)
			for i := range places {
				places[i] = uint32(i*i*31%80) | uint32(i%7/6)<<31
				want[i] = from[min(int(places[i]), len(from)-1)]
			}
			for _, ahead := range [][]float64{nil, from[:5], from} {
				got := make([]float64, n+1)
				simd.PickValues(p, got[:n], from, places, ahead)
				if !slices.Equal(got, want) {
					t.Errorf("%d values with %d ahead: %v, want %v", n, len(ahead), got, want)
				}
			}
			for first := range 8 { // one of which begins a line
				got := make([]float64, first+n+1)
				simd.PickValuesAway(p, got[first:first+n], from, places, from)
				if !slices.Equal(got, slices.Concat(make([]float64, first), want)) {
					t.Errorf("%d values from %d on past the caches: %v, want %v", n, first, got, want)
				}
			}
		}
	})
}
