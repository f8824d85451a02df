package okra

import (
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
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

// The permutation is a secret of the epoch: with another seed features take other places, in every
// encoder that has a permutation, narrow and wide.
func TestPermutationFollowsFromTheSeed(t *testing.T) {
	for _, width := range []int{64, 40000, 5 << 15} {
		same := 0
		one, two := prg.New([32]byte{1}, "seed"), prg.New([32]byte{2}, "seed")
		if isWide(width, windowOf(width)) {
			a, b := newWide(one, 1, width, windowOf(width)), newWide(two, 1, width, windowOf(width))
			for i, place := range a.places[0] {
				if place == b.places[0][i] {
					same++
				}
			}
		} else {
			a, b, room := randomRows("places", 1, width).Data, randomRows("places", 1, width).Data, make([]float64, width)
			newLayer(one, width).order.apply(a, room)
			newLayer(two, width).order.apply(b, room)
			for i := range a {
				if a[i] == b[i] {
					same++
				}
			}
		}
		if same > width/4 { // one feature, on average
			t.Errorf("width %d: %d features have the same place under two seeds", width, same)
		}
	}
	seeded := func(seed byte) func() *prg.Stream {
		return func() *prg.Stream { return prg.New([32]byte{seed}, "seed") }
	}
	if a, b := newBlock(seeded(1), 32, 50, 14), newBlock(seeded(2), 32, 50, 14); slices.Equal(a.in, b.in) || slices.Equal(a.out, b.out) {
		t.Error("encoder block has the same permutations under two seeds")
	}
	var features []int // in the order in which the encoder block takes them
	for _, place := range newBlock(seeded(1), 32, 50, 14).in {
		if place != 0 { // 0 may stand for an extra dimension
			features = append(features, int(place))
		}
	}
	if len(features) != 49 || slices.IsSorted(features) {
		t.Errorf("encoder block takes the features %v in their own order", features)
	}
	a, b := newHBH(seeded(1), 50, 14), newHBH(seeded(2), 50, 14)
	for round, layers := range [][2][]layer{{a.first.layers, b.first.layers}, {a.last.layers, b.last.layers}} {
		for i := range layers[0] {
			if slices.Equal(layers[0][i].order.(order), layers[1][i].order.(order)) {
				t.Errorf("encoder hbh has the same permutation %d of round %d under two seeds", i, round)
			}
		}
	}
	if slices.Equal(a.first.layers[0].order.(order), a.last.layers[0].order.(order)) {
		t.Error("both rounds of encoder hbh have the same permutation")
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

// The rotations of encoder hbh are a secret of the epoch, too, and each 32 coordinates have their own.
func TestRotationsFollowFromTheSeed(t *testing.T) {
	rotated := func(seed byte) linalg.Matrix[float64] {
		m := identity(64)
		newHBH(func() *prg.Stream { return prg.New([32]byte{seed}, "seed") }, 50, 14).rotate(m, 0, 2)
		return m
	}
	a, b := rotated(1), rotated(2)
	if a.Row(0)[0] == b.Row(0)[0] || a.Row(40)[40] == b.Row(40)[40] {
		t.Error("two seeds give one rotation")
	}
	if slices.Equal(a.Row(0)[:32], a.Row(32)[32:]) {
		t.Error("all coordinates have one rotation")
	}
}

// Encoder block permutes the encoded coordinates, too: those of one block lie apart.
func TestCoordinatesOfABlockLieApart(t *testing.T) {
	const f = 640
	e := mustEncoder(t, Spec{Mode: Paper, BlockWidth: minBlock}, 3, f)
	y := linalg.New[float64](f, e.Width())
	e.Encode(y, identity(f))
	for i := range f {
		var places []int
		for j, v := range y.Row(i) {
			if v != 0 {
				places = append(places, j)
			}
		}
		if reach := places[len(places)-1] - places[0]; reach < e.Width()/2 {
			t.Errorf("feature %d is in %d coordinates within %d of %d", i, len(places), reach, e.Width())
		}
	}
}
