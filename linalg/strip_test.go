package linalg_test

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// apartBy returns n strips that lie so far apart, with noise between.
func apartBy(n, distance int) linalg.Strips {
	return linalg.Strips{Values: noise[float64](1, (n-1)*distance+linalg.Strip, 5).Row(0), Distance: distance}
}

func nextToEachOther(n int) linalg.Strips {
	return linalg.Strips{Values: make([]float64, n*linalg.Strip), Distance: linalg.Strip}
}

func TestCopyStrips(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		const n, apart = 5, 100
		far, near := apartBy(n, apart), nextToEachOther(n)
		linalg.CopyStripsOn(p, n, near, far)
		back := linalg.Strips{Values: make([]float64, len(far.Values)), Distance: apart}
		linalg.CopyStripsOn(p, n, back, near)
		for i, v := range far.Values {
			inside := i%apart < linalg.Strip
			if inside && (near.Values[i/apart*linalg.Strip+i%apart] != v || back.Values[i] != v) || !inside && back.Values[i] != 0 {
				t.Fatalf("value %d of strip %d is wrong", i%apart, i/apart)
			}
		}
		linalg.CopyStripsOn(p, 0, linalg.Strips{}, linalg.Strips{})
	})
}

// To near and back is a transform twice, which multiplies by the order. What
// lies between the strips stays.
func TestFWHTOfStrips(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for n := 2; n <= 256; n *= 2 {
			const apart = linalg.Strip + 24
			far, near, want := apartBy(n, apart), nextToEachOther(n), nextToEachOther(n)
			linalg.CopyStrips(n, want, far)
			linalg.FWHTColumns(want.Values, linalg.Strip)
			linalg.FWHTCollectOn(p, near.Values, far, linalg.NewAhead(n, far))
			if i := differs(near.Values, want.Values, 1e-12); i >= 0 {
				t.Fatalf("%d strips: value %d is %v, want %v", n, i, near.Values[i], want.Values[i])
			}
			twice := slices.Clone(far.Values)
			for i := range twice {
				if i%apart < linalg.Strip {
					twice[i] *= float64(n)
				}
			}
			linalg.FWHTSpreadOn(p, far, near.Values, linalg.NewAhead(0, far))
			if i := differs(far.Values, twice, 1e-11); i >= 0 {
				t.Fatalf("%d strips: value %d comes back as %v, want %v", n, i, far.Values[i], twice[i])
			}
		}
	})
}

func TestStripsRefuse(t *testing.T) {
	x := make([]float64, 4*linalg.Strip)
	near := linalg.Strips{Values: x, Distance: linalg.Strip}
	none := linalg.NewAhead(0, near)
	for name, f := range map[string]func(){
		"copied beyond":      func() { linalg.CopyStrips(3, linalg.Strips{Values: x[:130], Distance: 64}, near) },
		"ahead beyond":       func() { linalg.NewAhead(5, near) },
		"collected beyond":   func() { linalg.FWHTCollect(make([]float64, 8*linalg.Strip), near, none) },
		"spread beyond":      func() { linalg.FWHTSpread(near, make([]float64, 8*linalg.Strip), none) },
		"backwards":          func() { linalg.CopyStrips(2, near, linalg.Strips{Values: x, Distance: -linalg.Strip}) },
		"one strip":          func() { linalg.FWHTCollect(x[:linalg.Strip], near, none) },
		"three strips":       func() { linalg.FWHTSpread(near, x[:3*linalg.Strip], none) },
		"a strip and a half": func() { linalg.FWHTCollect(x[:96], near, none) },
	} {
		if recovered(f) == nil {
			t.Errorf("%s: no panic", name)
		}
	}
}
