// Package simd holds the kernels of package linalg, in assembly and in plain Go,
// and says which this machine has. A path must be one of Paths. Kernels check no
// lengths, except where slicing does: what they are given must be there. Lengths,
// distances and steps are numbers of values. The kernels of Portable are the twins
// of the others.
package simd

import (
	"fmt"
)

type float interface{ float32 | float64 }

// Path is an instruction set that kernels are written for.
type Path int

const (
	Portable Path = iota // plain Go
	AVX2                 // with FMA, 256 bits
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

// SMOWidth divides the number of entries that a pass takes, and bounds its lanes.
const SMOWidth = 16

// SMO holds both passes of sequential minimal optimisation, nil on the portable
// path. They keep what they found in each of Lanes lanes, with the first index of the
// turn that it was found in, or -1; a turn has Lanes entries. Place holds 1 for an
// entry that can grow, and 2 for one that can shrink.
type SMO[T float] struct {
	Lanes int
	// Move adds a x + b y to f and finds the lowest value of the entries that can
	// grow, the last of equals, and the highest of those that can shrink.
	Move func(n int, f []float64, a float64, x []T, b float64, y []T, place []uint8, low *[SMOWidth]float64, at *[SMOWidth]int64, high *[SMOWidth]float64)
	// Partner finds the largest decrease (f - fi)^2 / a of the entries that can shrink
	// and are above fi, with a = kii + diagonal - 2 row, or tau where that is not above
	// 0. It divides only where (f - fi)^2 is not below slack times best a.
	Partner func(n int, f, diagonal []float64, row []T, place []uint8, fi, kii, tau, slack float64, best *[SMOWidth]float64, at *[SMOWidth]int64)
}

// SMOOf returns the passes of a path.
func SMOOf[T float](p Path) SMO[T] {
	if isSingle[T]() {
		return any(smo32(p)).(SMO[T])
	}
	return any(smo64(p)).(SMO[T])
}

// PickValues sets to[i] to from[places[i]], or to from's last value for a place
// behind it. Meanwhile it asks the caches for ahead, which may be nil.
func PickValues(p Path, to, from []float64, places []uint32, ahead []float64) {
	pick, _ := pickers(p)
	pick.values(to, from, places, ahead)
}

// PickValuesAway is PickValues past the caches, where to begins with a line.
func PickValuesAway(p Path, to, from []float64, places []uint32, ahead []float64) {
	_, away := pickers(p)
	away.values(to, from, places, ahead)
}

// picker is a way to pick n values, a multiple of 8; ahead has as many.
type picker func(n int, to, from []float64, places []uint32, ahead []float64)

func (pick picker) values(to, from []float64, places []uint32, ahead []float64) {
	if n := min(len(to), len(ahead)) &^ 7; n > 0 {
		pick(n, to, from, places, ahead)
		to, places = to[n:], places[n:]
	}
	n := len(to) &^ 7
	if n > 0 {
		pick(n, to, from, places, from) // nothing that is not here
	}
	pickValues(len(to)-n, to[n:], from, places[n:], nil)
}

func pickValues(n int, to, from []float64, places []uint32, _ []float64) {
	last := uint32(len(from) - 1)
	for i, at := range places[:n] {
		to[i] = from[min(at, last)]
	}
}
