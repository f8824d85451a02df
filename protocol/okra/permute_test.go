package okra

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

// A route is its order, whatever the blocks.
func TestRouteIsItsOrder(t *testing.T) {
	for _, c := range []struct{ width, block int }{{1, 8}, {7, 8}, {8, 8}, {9, 8}, {100, 16}, {1000, 64}, {40000, 4096}, {140000, 1 << 16}} {
		o := order(prg.New([32]byte{byte(c.width)}, "route").Perm32(c.width))
		x := slices.Clone(randomRows("route", 1, c.width).Data)
		want, room := slices.Clone(x), make([]float64, c.width)
		o.apply(want, room)
		newRoute(o, c.block).apply(x, room)
		if !slices.Equal(x, want) {
			t.Errorf("width %d in blocks of %d differs", c.width, c.block)
		}
	}
}

func TestWideRowsTakeRoutes(t *testing.T) {
	for width, want := range map[int]int{cachedWidth: 0, cachedWidth + 1: 1 << 12, 294912: 1 << 13, 4718592: 1 << 16} {
		block := 0
		if r, ok := permutationOf(make(order, width)).(*route); ok {
			block = r.block
		}
		if block != want {
			t.Errorf("width %d: blocks of %d, want %d", width, block, want)
		}
	}
}
