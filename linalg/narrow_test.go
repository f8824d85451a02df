package linalg_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// TestNarrow: every path rounds as a conversion does, also to denormal numbers and to infinity.
func TestNarrow(t *testing.T) {
	odd := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e39, -1e39, 3.4028235677973366e38, 1e-40, 7e-46, 1 + 0x1p-24, 1 + 0x3p-24, 5e-324}
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for _, n := range []int{0, 1, 15, 16, 17, 33, 1000} {
			r := rand.New(rand.NewPCG(1, uint64(n)))
			src, dst := make([]float64, n), make([]float32, n)
			for i := range src {
				if src[i] = r.NormFloat64(); r.IntN(3) == 0 {
					src[i] = odd[r.IntN(len(odd))]
				}
			}
			linalg.NarrowOn(p, dst, src)
			for i, v := range src {
				if got, want := math.Float32bits(dst[i]), math.Float32bits(float32(v)); got != want {
					t.Fatalf("%d values: %v becomes %x, want %x", n, v, got, want)
				}
			}
		}
	})
	defer func() {
		if recover() == nil {
			t.Error("no panic for another length")
		}
	}()
	linalg.Narrow(make([]float32, 3), make([]float64, 4))
}

// TestFirstNotFinite: every path finds the first NaN or infinity wherever it is, and takes no large
// number for one.
func TestFirstNotFinite(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		t.Run("float32", func(t *testing.T) { findNotFinite[float32](t, p, math.MaxFloat32) })
		t.Run("float64", func(t *testing.T) { findNotFinite[float64](t, p, math.MaxFloat64) })
	})
}

func findNotFinite[T linalg.Float](t *testing.T, p linalg.Path, most T) {
	for _, n := range []int{0, 1, 15, 16, 17, 40} {
		v := make([]T, n+5)
		for i := range v {
			v[i] = most * T(1-2*(i%2))
		}
		if got := linalg.FirstNotFiniteOn(p, v); got != -1 {
			t.Errorf("%d large numbers: %d", len(v), got)
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			for i := range v {
				was := v[i]
				v[i], v[len(v)-1] = T(bad), T(bad)
				if got := linalg.FirstNotFiniteOn(p, v); got != i {
					t.Errorf("%d values, %v at %d: %d", len(v), bad, i, got)
				}
				v[i], v[len(v)-1] = was, was
			}
		}
	}
}
