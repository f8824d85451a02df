package linalg_test

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// Values at any places, some behind the end, and none written behind the last.
func TestPickValues(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		from := noise[float64](1, 75, 4).Row(0)
		for _, n := range []int{0, 1, 7, 8, 9, 100} {
			places, want := make([]uint32, n), make([]float64, n+1)
			for i := range places {
				places[i] = uint32(i*i*31%80) | uint32(i%7/6)<<31
				want[i] = from[min(int(places[i]), len(from)-1)]
			}
			for _, ahead := range [][]float64{nil, from[:5], from} {
				got := make([]float64, n+1)
				linalg.PickValuesOn(p, got[:n], from, places, ahead)
				if !slices.Equal(got, want) {
					t.Errorf("%d values with %d ahead: %v, want %v", n, len(ahead), got, want)
				}
			}
			for first := range 8 { // one of which begins a line
				got := make([]float64, first+n+1)
				linalg.PickValuesAwayOn(p, got[first:first+n], from, places, from)
				if !slices.Equal(got, slices.Concat(make([]float64, first), want)) {
					t.Errorf("%d values from %d on past the caches: %v, want %v", n, first, got, want)
				}
			}
		}
	})
}

func TestPickValuesRefuses(t *testing.T) {
	for name, f := range map[string]func(){
		"nothing to pick from": func() { linalg.PickValues(make([]float64, 1), nil, []uint32{0}, nil) },
		"too few places":       func() { linalg.PickValues(make([]float64, 40), make([]float64, 3), make([]uint32, 39), nil) },
	} {
		if recovered(f) == nil {
			t.Errorf("%s: no panic", name)
		}
	}
}
