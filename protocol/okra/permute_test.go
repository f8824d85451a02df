package okra

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/prg"
)

// A route is its layer, bit for bit, whatever the blocks.
func TestRouteIsItsLayer(t *testing.T) {
	for _, c := range []struct{ width, block int }{{1, 8}, {7, 8}, {8, 8}, {9, 8}, {100, 16}, {1000, 64}, {40000, 4096}, {70000, 1 << 15}} {
		l := newLayer(prg.New([32]byte{byte(c.width)}, "route"), c.width)
		x := slices.Clone(randomRows("route", 1, c.width).Data)
		x[0] = 0 // zeros have signs too
		want, room := slices.Clone(x), make([]float64, c.width)
		l.apply(want, room)
		newRoute(l, c.block).apply(x, room)
		for i, w := range want {
			if x[i] != w || 1/x[i] != 1/w {
				t.Fatalf("width %d in blocks of %d: coordinate %d is %v, want %v", c.width, c.block, i, x[i], w)
			}
		}
	}
}

func TestWideLayersAreRoutes(t *testing.T) {
	for width, want := range map[int]int{direct: 0, direct + 1: 1 << 12, 294912: 1 << 13, 4718592: 1 << 15} {
		block := 0
		if r, ok := permutationOf(make(layer, width)).(*route); ok {
			block = r.block
		}
		if block != want {
			t.Errorf("width %d: blocks of %d, want %d", width, block, want)
		}
	}
}
