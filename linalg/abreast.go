package linalg

import (
	"fmt"
	"math/bits"
)

// Vectors abreast: eight of them as the columns of a matrix whose rows, one for
// each coordinate, are lines of the cache. To permute coordinates then moves
// lines and not words, and no level of a Walsh-Hadamard transform combines
// values of one register.

const (
	// Abreast is how many vectors stand side by side.
	Abreast = 8
	// Places is how many rows there are for [PickRows] and [PlaceRows] to choose from.
	Places = 1 << 12
	// Strip is how many values [CopyStrips] copies at a time: eight rows.
	Strip = 8 * Abreast
)

// abreast is a way to work on such rows; n is positive.
type abreast struct {
	pick       rowPicker
	pickAway   rowPicker
	place      func(n int, to, from []float64, places []uint16, signs []int8, scale float64)
	turn       func(n int, x []float64, signs []int8, scale float64)
	copyStrips func(n int, to []float64, toDistance int, from []float64, fromDistance int)
	neighbours func(n int, x []float64) // three levels of each of n times 8 rows
}

var portableAbreast = abreast{pickRows, pickRows, placeRows, turnRows, copyStrips, neighbours}

// firstRows returns n rows of 8 values, and panics when x is shorter.
func firstRows(x []float64, n int) []float64 { return x[: Abreast*n : len(x)] }

// StandAbreast sets to, m.Cols x 8, to the transpose of m, which has at most 8
// rows; for those that it has not there are zeros.
func StandAbreast(to []float64, m Matrix[float64]) {
	if m.Rows > Abreast {
		panic(fmt.Sprintf("linalg: %d vectors abreast, at most %d", m.Rows, Abreast))
	}
	packPanel(firstRows(to, m.Cols), m, Abreast, 0, m.Cols)
}

// FallIn is the way back: it sets m to the transpose of its part of from.
func FallIn(m Matrix[float64], from []float64) {
	if m.Rows > Abreast {
		panic(fmt.Sprintf("linalg: %d vectors abreast, at most %d", m.Rows, Abreast))
	}
	unpackPanel(m, firstRows(from, m.Cols), Abreast)
}

// PickRows sets row i of to to row places[i] of from, which has 4096 rows, of 8
// values each. Meanwhile it asks the caches for what is read next, ahead, as
// many rows. It panics when a matrix is too short, and takes of a place its
// lowest 12 bits.
func PickRows(to, from []float64, places []uint16, ahead []float64) {
	pickRowsOn(Paths()[0], to, from, places, ahead)
}

func pickRowsOn(p Path, to, from []float64, places []uint16, ahead []float64) {
	abreastOf(p).pick.rows(to, from, places, ahead)
}

// PickRowsAway is PickRows to rows that are not read soon: they go to memory
// past the caches, which keep what is, and need not read first what is then
// written as a whole. It does so where to begins with a line of the cache.
func PickRowsAway(to, from []float64, places []uint16, ahead []float64) {
	pickRowsAwayOn(Paths()[0], to, from, places, ahead)
}

func pickRowsAwayOn(p Path, to, from []float64, places []uint16, ahead []float64) {
	abreastOf(p).pickAway.rows(to, from, places, ahead)
}

// rowPicker is a way to pick n rows.
type rowPicker func(n int, to, from []float64, places []uint16, ahead []float64)

func (pick rowPicker) rows(to, from []float64, places []uint16, ahead []float64) {
	if n := len(places); n > 0 {
		pick(n, firstRows(to, n), firstRows(from, Places), places, firstRows(ahead, n))
	}
}

// PlaceRows sets row places[i] of to, which has 4096 rows, to scale times row i
// of from, and to -scale times that where signs[places[i]] is below 0. It panics
// when one of them is too short, and takes of a place its lowest 12 bits.
func PlaceRows(to, from []float64, places []uint16, signs []int8, scale float64) {
	placeRowsOn(Paths()[0], to, from, places, signs, scale)
}

func placeRowsOn(p Path, to, from []float64, places []uint16, signs []int8, scale float64) {
	if n := len(places); n > 0 {
		abreastOf(p).place(n, firstRows(to, Places), firstRows(from, n), places, signs[:Places:len(signs)], scale)
	}
}

// TurnRows multiplies row i of x, of 8 values, by scale, and by -scale where
// signs[i] is below 0, for each sign. It panics when there are fewer rows.
func TurnRows(x []float64, signs []int8, scale float64) { turnRowsOn(Paths()[0], x, signs, scale) }

func turnRowsOn(p Path, x []float64, signs []int8, scale float64) {
	if n := len(signs); n > 0 {
		abreastOf(p).turn(n, firstRows(x, n), signs, scale)
	}
}

// CopyStrips copies n strips of 64 values. They begin as far apart as the
// distances say. It panics when they do not fit.
func CopyStrips(n int, to []float64, toDistance int, from []float64, fromDistance int) {
	copyStripsOn(Paths()[0], n, to, toDistance, from, fromDistance)
}

func copyStripsOn(p Path, n int, to []float64, toDistance int, from []float64, fromDistance int) {
	if n > 0 {
		abreastOf(p).copyStrips(n, to[:(n-1)*toDistance+Strip:len(to)], toDistance, from[:(n-1)*fromDistance+Strip:len(from)], fromDistance)
	}
}

// FWHTColumns sets to, n x q, to the Walsh-Hadamard matrix of order n times
// from; they may be the same. Q is a multiple of 8. It runs on one core; use it
// inside For. It panics unless n is a power of two.
func FWHTColumns(to, from []float64, q int) { fwhtColumnsOn(Paths()[0], to, from, q) }

func fwhtColumnsOn(p Path, to, from []float64, q int) {
	if q < Abreast || q%Abreast != 0 {
		panic(fmt.Sprintf("linalg: FWHT of %d columns; take a multiple of %d", q, Abreast))
	}
	if n := len(to) / q; len(to) != len(from) || n*q != len(to) || n == 0 || n&(n-1) != 0 {
		panic(fmt.Sprintf("linalg: FWHT of %d columns of %d values to %d; pad to a power of two", q, len(from), len(to)))
	}
	abreastOf(p).columns(butterflies64(p), to, from, q)
}

// columns does the highest levels on the way, and then each part to its end.
func (a abreast) columns(b butterflies[float64], to, from []float64, q int) {
	step, parts := b.eighths, 8
	switch levels := bits.Len(uint(len(to)/q)) - 1; {
	case levels == 0:
		copy(to, from)
		return
	case levels == 1:
		step, parts = halves[float64], 2
	case levels%3 > 0:
		step, parts = b.quarters, 4
	}
	part := len(to) / parts
	step(part, to, part, from, part)
	switch {
	case part == q:
	case part == 8*q && q == Abreast:
		a.neighbours(parts, to)
	default:
		for i := 0; i < len(to); i += part {
			a.columns(b, to[i:i+part], to[i:i+part], q)
		}
	}
}

func pickRows(_ int, to, from []float64, places []uint16, _ []float64) {
	for i, at := range places {
		copy(to[Abreast*i:][:Abreast], from[Abreast*int(at%Places):])
	}
}

func placeRows(_ int, to, from []float64, places []uint16, signs []int8, scale float64) {
	for i, at := range places {
		row := to[Abreast*int(at%Places):][:Abreast]
		copy(row, from[Abreast*i:])
		turnRows(1, row, signs[at%Places:], scale)
	}
}

func turnRows(n int, x []float64, signs []int8, scale float64) {
	for i, s := range signs[:n] {
		factor := scale
		if s < 0 {
			factor = -scale
		}
		for j := range Abreast {
			x[Abreast*i+j] *= factor
		}
	}
}

func copyStrips(n int, to []float64, toDistance int, from []float64, fromDistance int) {
	for i := range n {
		copy(to[i*toDistance:][:Strip], from[i*fromDistance:])
	}
}

func neighbours(n int, x []float64) {
	for i := range n {
		at := x[8*Abreast*i:]
		eighths(Abreast, at, Abreast, at, Abreast)
	}
}
