package simd_test

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/internal/simd"
)

func TestFlip(t *testing.T) {
	onEachPath(t, func(t *testing.T, p simd.Path) {
		for n := range 70 {
			flips[float64](t, p, n)
			flips[float32](t, p, n)
		}
	})
}

func flips[T float32 | float64](t *testing.T, p simd.Path, n int) {
	t.Helper()
	got, want := noise[T](n+3, 8), noise[T](n+3, 8) // with zeros, which have signs too
	signs := make([]int8, n)
	for i := range signs {
		if signs[i] = int8(1 - 2*(i*i/3%2)); signs[i] < 0 {
			want[i] = -want[i]
		}
	}
	simd.Flip(p, got[:n], signs)
	for i, w := range want { // and nothing behind
		if got[i] != w || math.Signbit(float64(got[i])) != math.Signbit(float64(w)) {
			t.Fatalf("%T: entry %d of %d is %v, want %v", w, i, n, got[i], w)
		}
	}
}
