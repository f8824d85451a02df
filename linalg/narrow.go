package linalg

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Narrow rounds each entry of src to float32 and stores it in dst, which is as long. It runs on one
// core; use it inside [For].
func Narrow(dst []float32, src []float64) { narrow(Paths()[0], dst, src) }

func narrow(p Path, dst []float32, src []float64) {
	if len(dst) != len(src) {
		panic(fmt.Sprintf("linalg: %d values into %d", len(src), len(dst)))
	}
	n := 0
	if round := simd.NarrowingOf(p); round != nil && len(src) >= simd.SMOWidth {
		n = len(src) &^ (simd.SMOWidth - 1)
		round(n, dst, src)
	}
	for i, v := range src[n:] {
		dst[n+i] = float32(v)
	}
}

// FirstNotFinite returns the index of the first NaN or infinity in v, or -1.
func FirstNotFinite[T Float](v []T) int { return firstNotFinite(Paths()[0], v) }

func firstNotFinite[T Float](p Path, v []T) int {
	lo := 0
	if s := simd.SMOOf[T](p); s.Lanes > 0 && len(v) >= simd.SMOWidth {
		n := len(v) &^ (simd.SMOWidth - 1)
		var sums [simd.SMOWidth]float64
		if s.Doubts(n, v, &sums); sums == [simd.SMOWidth]float64{} { // NaN equals nothing
			lo = n
		}
	}
	for i, x := range v[lo:] {
		if x-x != 0 { // x-x is NaN if x is NaN or infinite
			return lo + i
		}
	}
	return -1
}
