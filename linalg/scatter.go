package linalg

import "fmt"

// Turned changes the sign of a row, in the place that the row is sent to.
const Turned = 1 << 31

// scatterer sends each of n rows to its place, or does three levels of eight
// times n rows, a distance of rows apart, on the way.
type scatterer func(n int, to, from []float64, distance int, places []uint32, scale float64)

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
		abreastOf(p).scatter(n, atLeastOne(to), firstRows(from, n), 0, places, scale)
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
	if n < 8 || n&(n-1) != 0 || len(from) != Abreast*n {
		panic(fmt.Sprintf("linalg: FWHT of %d values to %d places; take eight a place, and a power of two of these", len(from), n))
	}
	a := abreastOf(p)
	a.parts(butterflies64(p), from, len(from)/8, Abreast)
	a.scatterEighths(n/8, atLeastOne(to), from, n/8, places, scale)
}

// atLeastOne panics when there is no row.
func atLeastOne(rows []float64) []float64 { return rows[:max(Abreast, len(rows)):len(rows)] }

func scatterRows(_ int, to, from []float64, _ int, places []uint32, scale float64) {
	last := uint32(len(to)/Abreast - 1)
	for i, place := range places {
		factor := scale
		if place >= Turned {
			factor = -scale
		}
		row := to[Abreast*min(place%Turned, last):]
		for j, v := range from[Abreast*i:][:Abreast] {
			row[j] = factor * v
		}
	}
}

func scatterEighths(n int, to, from []float64, distance int, places []uint32, scale float64) {
	eighths(Abreast*n, from, Abreast*distance, from, Abreast*distance)
	scatterRows(8*n, to, from, 0, places, scale)
}
