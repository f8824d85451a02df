//go:build slow

package lattice_test

import (
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/internal/attack/lattice"
	"github.com/mercer-fl/mercer/linalg"
)

// TestManyFeatures: a hundred random bits in a row, which LLL by itself does not
// read; deep insertion does.
func TestManyFeatures(t *testing.T) {
	const f = 100
	rng := rand.New(rand.NewPCG(1, 5))
	x := linalg.New[float64](4*f, f)
	for i := range x.Data {
		x.Data[i] = float64(rng.IntN(2))
	}
	if got := lattice.Read(gram(x, true)).Recovered(x, .01); len(got) != f {
		t.Errorf("%d of %d features read", len(got), f)
	}
}

// TestBesideMoreFeatures: the more features there are on no grid, the fewer of
// the others are read. Measured on several draws: all 61 pixels beside one, 28 to
// 61 beside three, about 11 beside ten.
func TestBesideMoreFeatures(t *testing.T) {
	for _, c := range []struct{ other, least, most int }{{1, 61, 61}, {3, 20, 61}, {10, 1, 40}} {
		x := linalg.New[float64](1797, 64+c.other)
		rng := rand.New(rand.NewPCG(1, 5))
		pixels := scaled(digits(t, x.Rows), minmax)
		for i := range x.Rows {
			copy(x.Row(i), pixels.Row(i))
			for j := range c.other {
				x.Row(i)[64+j] = rng.Float64()
			}
		}
		if got := len(lattice.Read(gram(x, true)).Recovered(x, .01)); got < c.least || got > c.most {
			t.Errorf("beside %d features, %d of 61 pixels read", c.other, got)
		}
	}
}
