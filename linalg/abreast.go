package linalg

import "fmt"

// Vectors abreast: eight of them as the columns of a matrix whose rows, one for
// each coordinate, are lines of the cache. To permute coordinates then moves
// lines and not words, and no level of a Walsh-Hadamard transform combines
// values of one register.

// Abreast is the number of vectors that stand side by side.
const Abreast = 8

// abreast is a way to work on such rows; n is positive.
type abreast struct {
	turn                    func(n int, x []float64, signs []int8, scale float64)
	copyStrips              func(n int, to []float64, toDistance int, from []float64, fromDistance int)
	askStrips               func(n int, x []float64, distance int)
	neighbours              func(n int, x []float64) // three levels of each of n times 8 rows
	scatter, scatterEighths scatterer
}

var portableAbreast = abreast{turnRows, copyStrips, func(int, []float64, int) {}, neighbours, scatterRows, scatterEighths}

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

// FallIn is the way back: it sets m to the transpose of its part of from. Whole
// lines of m go to memory past the caches, as what is not read soon.
func FallIn(m Matrix[float64], from []float64) { fallInOn(Paths()[0], m, from) }

func fallInOn(p Path, m Matrix[float64], from []float64) {
	if m.Rows > Abreast {
		panic(fmt.Sprintf("linalg: %d vectors abreast, at most %d", m.Rows, Abreast))
	}
	from = firstRows(from, m.Cols)
	_, past := transposers64(p)
	unpackPanel(m, firstRows(from, m.Cols), Abreast, past)
}

// TurnRows multiplies row i of x, of 8 values, by scale, and by -scale where
// signs[i] is below 0, for each sign. It panics when there are fewer rows.
func TurnRows(x []float64, signs []int8, scale float64) { turnRowsOn(Paths()[0], x, signs, scale) }

func turnRowsOn(p Path, x []float64, signs []int8, scale float64) {
	if n := len(signs); n > 0 {
		abreastOf(p).turn(n, firstRows(x, n), signs, scale)
	}
}

// FWHTColumns multiplies x, n x q, in place by the Walsh-Hadamard matrix of order
// n: its parts as they come from memory, and then the highest levels. Q is a
// multiple of 8. It runs on one core; use it inside For. It panics unless n is a
// power of two.
func FWHTColumns(x []float64, q int) { fwhtColumnsOn(Paths()[0], x, q) }

func fwhtColumnsOn(p Path, x []float64, q int) {
	if q < Abreast || q%Abreast != 0 {
		panic(fmt.Sprintf("linalg: FWHT of %d columns; take a multiple of %d", q, Abreast))
	}
	if n := len(x) / q; n*q != len(x) || n == 0 || n&(n-1) != 0 {
		panic(fmt.Sprintf("linalg: FWHT of %d columns of %d values; pad to a power of two", q, len(x)))
	}
	a, b := abreastOf(p), butterflies64(p)
	if len(x) > q {
		step, parts := b.top(len(x) / q)
		part := len(x) / parts
		a.parts(b, x, part, q)
		step(part, x, part, x, part)
	}
}

// parts does each part of x to its end, the highest levels first.
func (a abreast) parts(b butterflies[float64], x []float64, part, q int) {
	switch {
	case part == q:
	case part == 8*q && q == Abreast:
		a.neighbours(len(x)/part, x)
	default:
		step, n := b.top(part / q)
		smaller := part / n
		for i := 0; i < len(x); i += part {
			at := x[i : i+part]
			step(smaller, at, smaller, at, smaller)
			a.parts(b, at, smaller, q)
		}
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

func neighbours(n int, x []float64) {
	for i := range n {
		at := x[8*Abreast*i:]
		eighths(Abreast, at, Abreast, at, Abreast)
	}
}
