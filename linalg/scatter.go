package linalg

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Turned is added to a destination index of [Scatter] to flip the sign of the row written there.
const Turned = 1 << 31

// Scatter copies row i of from, times scale, to row places[i] of to. The factor is -scale if
// [Turned] is added to the place. A row has 8 values. Places beyond the last row mean the last row.
// If to begins at a cache line, rows are written past the caches: whole lines are then written
// equally fast in any order. It runs on one core; use it inside For. It panics if to has no row,
// and if from has fewer rows than there are places.
func Scatter(to, from []float64, places []uint32, scale float64) {
	scatterOn(Paths()[0], to, from, places, scale)
}

func scatterOn(p Path, to, from []float64, places []uint32, scale float64) {
	if n := len(places); n > 0 {
		simd.InterleavedOf(p).Scatter(n, atLeastOne(to), firstRows(from, n), 0, places, scale)
	}
}

// FWHTScatter multiplies from by the Walsh-Hadamard matrix and writes the rows of the product to
// their places, like [Scatter]. from has one row for each place. It overwrites from. It panics
// unless the number of rows is a power of two, at least 8.
func FWHTScatter(to, from []float64, places []uint32, scale float64) {
	fwhtScatterOn(Paths()[0], to, from, places, scale)
}

func fwhtScatterOn(p Path, to, from []float64, places []uint32, scale float64) {
	n := len(places)
	if n < 8 || n&(n-1) != 0 || len(from) != Interleaved*n {
		panic(fmt.Sprintf("linalg: FWHT of %d values to %d places; use eight for each place, and a power of two of these", len(from), n))
	}
	a := simd.InterleavedOf(p)
	a.Parts(simd.Butterflies64(p), from, len(from)/8, Interleaved)
	a.ScatterEighths(n/8, atLeastOne(to), from, n/8, places, scale)
}

// atLeastOne returns rows and panics if there is no row.
func atLeastOne(rows []float64) []float64 { return rows[:max(Interleaved, len(rows)):len(rows)] }

// PickValues sets to[i] to from[places[i]]. A place beyond the end of from selects its last value.
// Meanwhile it prefetches ahead, which is the argument from of the next call, so that the next call
// waits for the second-level cache and not for memory. If ahead is nil, it prefetches nothing. It
// runs on one core; use it inside For. It panics if there are fewer places than values to set, and
// if from is empty or has 2^31 values or more.
func PickValues(to, from []float64, places []uint32, ahead []float64) {
	checkPlaces(to, from, places)
	simd.PickValues(Paths()[0], to, from, places, ahead)
}

// PickValuesAway is like [PickValues] for values that are not read soon. It writes past the caches
// if to begins at a cache line.
func PickValuesAway(to, from []float64, places []uint32, ahead []float64) {
	checkPlaces(to, from, places)
	simd.PickValuesAway(Paths()[0], to, from, places, ahead)
}

func checkPlaces(to, from []float64, places []uint32) {
	if len(from) == 0 || len(from) > math.MaxInt32 || len(places) < len(to) {
		panic(fmt.Sprintf("linalg: %d values at %d places of %d", len(to), len(places), len(from)))
	}
}
