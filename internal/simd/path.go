// Package simd provides the kernels of package linalg in assembly and in plain Go. It also lists
// the instruction sets that this machine supports. A path must be one of Paths. Most kernels do not
// check lengths, so their callers must: a kernel in assembly would read or write beyond a slice
// that is too short. Lengths, distances and steps are numbers of values, unless a comment names rows or strips.
// On the path Portable, functions in plain Go take the place of assembly.
package simd

import (
	"fmt"
)

type float interface{ float32 | float64 }

// Path is an instruction set for which kernels exist.
type Path int

const (
	Portable Path = iota // plain Go
	AVX2                 // AVX2 and FMA, 256 bits
	AVX512               // 512 bits
)

func (p Path) String() string {
	switch p {
	case Portable:
		return "portable"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return fmt.Sprintf("Path(%d)", int(p))
}

// isSingle reports whether T is float32.
func isSingle[T float]() bool {
	_, single := any(*new(T)).(float32)
	return single
}

// SMOWidth is the greatest number of lanes of a pass. A pass takes a multiple of SMOWidth entries.
const SMOWidth = 16

// SMO holds the functions for the passes of sequential minimal optimisation. On the portable
// path they are nil. A turn of their loops examines Lanes entries, one in each lane. For each lane
// they store the best value and, in at, the first index of the turn in which they found the value,
// or -1 if they found none. The entries of place hold the flags 1 for an entry that can grow, and 2 for
// an entry that can shrink.
type SMO[T float] struct {
	Lanes int
	// Move adds a x + b y to f. It finds the lowest value of the entries that can grow, the last
	// one among equals, and the highest value of the entries that can shrink.
	Move func(n int, f []float64, a float64, x []T, b float64, y []T, place []uint8, low *[SMOWidth]float64, at *[SMOWidth]int64, high *[SMOWidth]float64)
	// Partner finds the largest decrease (f - fi)^2 / a among the entries that can shrink and are
	// above fi. Here a = kii + diagonal - 2 row, or tau if that is not above 0. It divides only
	// where (f - fi)^2 is not below slack times best a.
	Partner func(n int, f, diagonal []float64, row []T, place []uint8, fi, kii, tau, slack float64, best *[SMOWidth]float64, at *[SMOWidth]int64)
	// Doubts adds x - x to sums, which is NaN if x is not finite and else 0.
	Doubts func(n int, x []T, sums *[SMOWidth]float64)
}

// Narrowing rounds the first n entries of src to float32 and stores them in dst. The number n is a
// multiple of SMOWidth, above 0. It is nil on the portable path.
type Narrowing func(n int, dst []float32, src []float64)

// SMOOf returns the functions for a path.
func SMOOf[T float](p Path) SMO[T] {
	if isSingle[T]() {
		return any(smo32(p)).(SMO[T])
	}
	return any(smo64(p)).(SMO[T])
}

// PickValues sets dst[i] to src[places[i]]. A place beyond the end of src selects its last value.
// Meanwhile it prefetches the values of ahead, which can be nil.
func PickValues(p Path, dst, src []float64, places []uint32, ahead []float64) {
	pick, _ := pickers(p)
	pick.values(dst, src, places, ahead)
}

// PickValuesAway is like PickValues, but on the paths AVX2 and AVX512 it writes past the caches if dst begins
// at a cache line.
func PickValuesAway(p Path, dst, src []float64, places []uint32, ahead []float64) {
	_, away := pickers(p)
	away.values(dst, src, places, ahead)
}

// picker picks n values and prefetches n values of ahead. In assembly, n is a positive multiple of 8; in plain
// Go it can be any number, and nothing is prefetched.
type picker func(n int, dst, src []float64, places []uint32, ahead []float64)

func (pick picker) values(dst, src []float64, places []uint32, ahead []float64) {
	if n := min(len(dst), len(ahead)) &^ 7; n > 0 {
		pick(n, dst, src, places, ahead)
		dst, places = dst[n:], places[n:]
	}
	n := len(dst) &^ 7
	if n > 0 {
		pick(n, dst, src, places, src) // prefetches values of src, which are in use anyway
	}
	pickValues(len(dst)-n, dst[n:], src, places[n:], nil)
}

func pickValues(n int, dst, src []float64, places []uint32, _ []float64) {
	last := uint32(len(src) - 1)
	for i, at := range places[:n] {
		dst[i] = src[min(at, last)]
	}
}
