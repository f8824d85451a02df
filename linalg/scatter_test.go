package linalg_test

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// scattered returns n rows, and n places of them among twice as many, no two
// alike, some turned.
func scattered(n int) (from []float64, places []uint32) {
	from, places = noise[float64](1, linalg.Interleaved*n, 3).Row(0), make([]uint32, n)
	for i, s := range signsOf(n) {
		places[i] = uint32((2*i*1021 + 7) % (2 * n))
		if s < 0 {
			places[i] += linalg.Turned
		}
	}
	return from, places
}

// placed returns the vector that Scatter should make of zeros.
func placed(from []float64, places []uint32, scale float64) []float64 {
	to := make([]float64, 2*len(from))
	for i, place := range places {
		factor := scale
		if place >= linalg.Turned {
			factor = -scale
		}
		for j := range linalg.Interleaved {
			to[linalg.Interleaved*int(place%linalg.Turned)+j] = factor * from[linalg.Interleaved*i+j]
		}
	}
	return to
}

// Past the caches or through them, from wherever rows begin, and nothing is
// written but the rows.
func TestScatter(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for _, n := range []int{0, 1, 2, 57, 512} {
			from, places := scattered(n)
			want := slices.Concat(placed(from, places, .3), []float64{0})
			for first := range linalg.Interleaved { // one of which begins a line
				to := make([]float64, first+len(want))
				linalg.ScatterOn(p, to[first:], from, places, .3)
				if !slices.Equal(to[first:], want) || !slices.Equal(to[:first], make([]float64, first)) {
					t.Errorf("%d rows go to wrong places from value %d on", n, first)
				}
			}
		}
	})
}

func TestFWHTScatter(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for n := 8; n <= 1<<12; n *= 2 {
			from, places := scattered(n)
			transformed := slices.Clone(from)
			linalg.FWHTColumns(transformed, linalg.Interleaved)
			want := placed(transformed, places, .7)
			for first := range 2 {
				to, same := make([]float64, first+len(want)), slices.Clone(from)
				linalg.FWHTScatterOn(p, to[first:], same, places, .7)
				if i := differs(to[first:], want, 1e-12); i >= 0 {
					t.Fatalf("%d rows: value %d is %v, want %v", n, i, to[first+i], want[i])
				}
			}
		}
	})
}

// differs returns the first place where two vectors are further apart, or -1.
func differs(x, y []float64, tolerance float64) int {
	for i, v := range x {
		if d := v - y[i]; d > tolerance || d < -tolerance || d != d {
			return i
		}
	}
	return -1
}

// A place beyond the rows is the last of them: nothing outside is touched.
func TestPlacesStayInside(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		from, to := noise[float64](1, 8*linalg.Interleaved, 3).Row(0), make([]float64, 4*linalg.Interleaved)
		rows := to[:3*linalg.Interleaved]
		linalg.ScatterOn(p, rows, from, []uint32{3}, 1)
		linalg.ScatterOn(p, rows, from, []uint32{1<<32 - 1}, 1)
		last := make([]float64, linalg.Interleaved)
		for j := range last {
			last[j] = -from[j]
		}
		if want := slices.Concat(make([]float64, 2*linalg.Interleaved), last, make([]float64, linalg.Interleaved)); !slices.Equal(to, want) {
			t.Errorf("got %v, want %v", to, want)
		}
		linalg.FWHTScatterOn(p, rows, from, slices.Repeat([]uint32{1<<31 - 1}, 8), 1)
		if !slices.Equal(to[3*linalg.Interleaved:], make([]float64, linalg.Interleaved)) {
			t.Error("wrote behind the rows")
		}
	})
}

func TestScatterRefuses(t *testing.T) {
	rows, eight := make([]float64, 8*linalg.Interleaved), make([]uint32, 8)
	for name, f := range map[string]func(){
		"nowhere":              func() { linalg.Scatter(rows[:7], rows, eight, 1) },
		"few rows":             func() { linalg.Scatter(rows, rows[:63], eight, 1) },
		"transformed nowhere":  func() { linalg.FWHTScatter(nil, rows, eight, 1) },
		"few to transform":     func() { linalg.FWHTScatter(rows, rows[:56], eight, 1) },
		"four to transform":    func() { linalg.FWHTScatter(rows, rows[:32], eight[:4], 1) },
		"no power of two":      func() { linalg.FWHTScatter(rows, make([]float64, 96), make([]uint32, 12), 1) },
		"more rows than there": func() { linalg.FWHTScatter(rows, rows, make([]uint32, 16), 1) },
	} {
		if recovered(f) == nil {
			t.Errorf("%s: no panic", name)
		}
	}
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
