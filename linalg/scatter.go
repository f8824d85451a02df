package linalg

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Turned is added to a destination index of [Scatter] to flip the sign of the row written there.
const Turned = 1 << 31

// Scatter copies row i of src, times scale, to row places[i] of dst. The factor is -scale if
// [Turned] is added to the place. A row has 8 values. Places beyond the last row mean the last row.
// On the path AVX512, if dst begins at a cache line, rows are written past the caches: whole lines are then
// written equally fast in any order. It runs on one core; use it inside For. It panics if dst has no row,
// and if src has fewer rows than there are places.
func Scatter(dst, src []float64, places []uint32, scale float64) {
	scatterOn(Paths()[0], dst, src, places, scale)
}

func scatterOn(p Path, dst, src []float64, places []uint32, scale float64) {
	if n := len(places); n > 0 {
		simd.InterleavedOf(p).Scatter(n, atLeastOne(dst), firstRows(src, n), 0, places, scale)
	}
}

// FWHTScatter multiplies src by the Walsh-Hadamard matrix and writes the rows of the product to
// their places in dst, like [Scatter]. The argument src has one row for each place, and FWHTScatter
// overwrites it. It panics unless the number of rows is a power of two, at least 8.
func FWHTScatter(dst, src []float64, places []uint32, scale float64) {
	fwhtScatterOn(Paths()[0], dst, src, places, scale)
}

func fwhtScatterOn(p Path, dst, src []float64, places []uint32, scale float64) {
	n := len(places)
	if n < 8 || n&(n-1) != 0 || len(src) != Interleaved*n {
		panic(fmt.Sprintf("linalg: FWHT of %d values to %d places; use eight for each place, and a power of two of these", len(src), n))
	}
	a := simd.InterleavedOf(p)
	a.Parts(simd.Butterflies64(p), src, len(src)/8, Interleaved)
	a.ScatterEighths(n/8, atLeastOne(dst), src, n/8, places, scale)
}

// atLeastOne returns rows and panics if there is no row.
func atLeastOne(rows []float64) []float64 { return rows[:max(Interleaved, len(rows)):len(rows)] }

// PickValues sets dst[i] to src[places[i]]. A place beyond the end of src selects its last value.
// Meanwhile PickValues prefetches nextSrc, which is the argument src of the next call. The next
// call then waits for the second-level cache and not for memory. If nextSrc is nil, PickValues
// prefetches nothing. It runs on one core; use it inside For. It panics if there are fewer places
// than values to set, and if src is empty or has 2^31 values or more.
func PickValues(dst, src []float64, places []uint32, nextSrc []float64) {
	checkPlaces(dst, src, places)
	simd.PickValues(Paths()[0], dst, src, places, nextSrc)
}

// PickValuesAway is like [PickValues] for values that are not read soon. On a path with vector instructions, it
// writes past the caches if dst begins at a cache line.
func PickValuesAway(dst, src []float64, places []uint32, nextSrc []float64) {
	checkPlaces(dst, src, places)
	simd.PickValuesAway(Paths()[0], dst, src, places, nextSrc)
}

func checkPlaces(dst, src []float64, places []uint32) {
	if len(src) == 0 || len(src) > math.MaxInt32 || len(places) < len(dst) {
		panic(fmt.Sprintf("linalg: %d values at %d places of %d", len(dst), len(places), len(src)))
	}
}
