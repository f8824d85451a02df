package linalg

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Turned changes the sign of a row, in the place that the row is sent to.
const Turned = 1 << 31

// Scatter sets row places[i] of to to scale times row i of from, of 8 values
// each, and to -scale times that where [Turned] is added to the place. A place
// behind the last row is the last. Where to begins with a line of the cache,
// rows go to memory past the caches, which writes whole lines as fast in any
// order. It runs on one core; use it inside For. It panics when to has no row,
// and when from has fewer than there are places.
func Scatter(to, from []float64, places []uint32, scale float64) {
	scatterOn(Paths()[0], to, from, places, scale)
}

func scatterOn(p Path, to, from []float64, places []uint32, scale float64) {
	if n := len(places); n > 0 {
		simd.AbreastOf(p).Scatter(n, atLeastOne(to), firstRows(from, n), 0, places, scale)
	}
}

// FWHTScatter is [Scatter] of the Walsh-Hadamard matrix times from, which has as
// many rows as there are places. It writes over from. It panics unless that is a
// power of two from 8 on.
func FWHTScatter(to, from []float64, places []uint32, scale float64) {
	fwhtScatterOn(Paths()[0], to, from, places, scale)
}

func fwhtScatterOn(p Path, to, from []float64, places []uint32, scale float64) {
	n := len(places)
	if n < 8 || n&(n-1) != 0 || len(from) != Interleaved*n {
		panic(fmt.Sprintf("linalg: FWHT of %d values to %d places; take eight a place, and a power of two of these", len(from), n))
	}
	a := simd.AbreastOf(p)
	a.Parts(simd.Butterflies64(p), from, len(from)/8, Interleaved)
	a.ScatterEighths(n/8, atLeastOne(to), from, n/8, places, scale)
}

// atLeastOne panics when there is no row.
func atLeastOne(rows []float64) []float64 { return rows[:max(Interleaved, len(rows)):len(rows)] }

// PickValues sets to[i] to from[places[i]], or to from's last value for a place
// behind it. Meanwhile it asks the caches for what will be picked from next,
// ahead, or nothing (nil): picking waits for the second-level cache, not for
// memory. It runs on one core; use it inside For. It panics when there are
// fewer places than values to set, and when from is empty or of 2^31 values or
// more.
func PickValues(to, from []float64, places []uint32, ahead []float64) {
	checkPlaces(to, from, places)
	simd.PickValues(Paths()[0], to, from, places, ahead)
}

// PickValuesAway is PickValues for values that are not read soon: it
// writes past the caches where to begins with a line.
func PickValuesAway(to, from []float64, places []uint32, ahead []float64) {
	checkPlaces(to, from, places)
	simd.PickValuesAway(Paths()[0], to, from, places, ahead)
}

func checkPlaces(to, from []float64, places []uint32) {
	if len(from) == 0 || len(from) > math.MaxInt32 || len(places) < len(to) {
		panic(fmt.Sprintf("linalg: %d values at %d places of %d", len(to), len(places), len(from)))
	}
}
