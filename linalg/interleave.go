package linalg

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Eight vectors can be interleaved, that is, stored as the eight columns of a matrix. Each row of
// the matrix holds one coordinate of all eight vectors and fills a cache line. Permuting
// coordinates then moves whole lines instead of single words, and no level of a Walsh-Hadamard
// transform combines values of one register.

// Interleaved is the number of vectors that are stored side by side.
const Interleaved = 8

// firstRows returns the first n rows of x, of 8 values each. It panics when x is shorter.
func firstRows(x []float64, n int) []float64 { return x[: Interleaved*n : len(x)] }

// Interleave stores the transpose of m in the slice to, as m.Cols rows of 8 values. m has at most 8
// rows; missing rows count as zeros.
func Interleave(to []float64, m Matrix[float64]) {
	if m.Rows > Interleaved {
		panic(fmt.Sprintf("linalg: %d interleaved vectors, at most %d", m.Rows, Interleaved))
	}
	packPanel(firstRows(to, m.Cols), m, Interleaved, 0, m.Cols)
}

// Deinterleave is the inverse of [Interleave]. It sets m to the transpose of the first m.Rows
// columns of from. Whole lines of m are written past the caches, since they are not read soon.
func Deinterleave(m Matrix[float64], from []float64) { deinterleaveOn(Paths()[0], m, from) }

func deinterleaveOn(p Path, m Matrix[float64], from []float64) {
	if m.Rows > Interleaved {
		panic(fmt.Sprintf("linalg: %d interleaved vectors, at most %d", m.Rows, Interleaved))
	}
	from = firstRows(from, m.Cols)
	_, past := simd.Transposers64(p)
	unpackPanel(m, firstRows(from, m.Cols), Interleaved, past)
}

// SignRows multiplies row i of x by scale, or by -scale if signs[i] is below 0. It does so for each
// sign; a row has 8 values. It panics if there are fewer rows.
func SignRows(x []float64, signs []int8, scale float64) { signRowsOn(Paths()[0], x, signs, scale) }

func signRowsOn(p Path, x []float64, signs []int8, scale float64) {
	if n := len(signs); n > 0 {
		simd.InterleavedOf(p).Turn(n, firstRows(x, n), signs, scale)
	}
}

// FWHTColumns multiplies the n x q matrix x in place by the Walsh-Hadamard matrix of order n. It
// first transforms the parts of x in the order of memory, and then computes the highest levels,
// which combine the parts. q must be a multiple of 8. It runs on one core; use it inside For. It
// panics unless n is a power of two.
func FWHTColumns(x []float64, q int) { fwhtColumnsOn(Paths()[0], x, q) }

func fwhtColumnsOn(p Path, x []float64, q int) {
	if q < Interleaved || q%Interleaved != 0 {
		panic(fmt.Sprintf("linalg: FWHT of %d columns; use a multiple of %d", q, Interleaved))
	}
	if n := len(x) / q; n*q != len(x) || n == 0 || n&(n-1) != 0 {
		panic(fmt.Sprintf("linalg: FWHT of %d columns of %d values; pad to a power of two", q, len(x)))
	}
	a, b := simd.InterleavedOf(p), simd.Butterflies64(p)
	if len(x) > q {
		step, parts := b.Top(len(x) / q)
		part := len(x) / parts
		a.Parts(b, x, part, q)
		step(part, x, part, x, part)
	}
}

// Strip is the number of consecutive values in a strip, which holds four rows of interleaved
// vectors. Strips of 72 parts fit the first-level cache.
const Strip = 4 * Interleaved

// Strips is a sequence of strips in memory that begin Distance values apart.
type Strips struct {
	Values   []float64
	Distance int
}

// From returns the strips from strip i on.
func (s Strips) From(i int) Strips { return Strips{s.Values[i*s.Distance:], s.Distance} }

// first returns the values up to the end of the first n strips. It panics if there are fewer, and
// if the distance is negative.
func (s Strips) first(n int) []float64 {
	if s.Distance < 0 {
		panic(fmt.Sprintf("linalg: strips %d values apart", s.Distance))
	}
	return s.Values[: (n-1)*s.Distance+Strip : len(s.Values)]
}

// CopyStrips copies the first n strips of from into to. It panics if there are fewer.
func CopyStrips(n int, to, from Strips) { copyStripsOn(Paths()[0], n, to, from) }

func copyStripsOn(p Path, n int, to, from Strips) {
	if n > 0 {
		simd.InterleavedOf(p).CopyStrips(n, to.first(n), to.Distance, from.first(n), from.Distance)
	}
}

// Ahead holds strips that will be read soon. Other work prefetches a few of them at a time, so
// that they are in the cache when they are read.
type Ahead struct {
	next Strips
	left int
}

// NewAhead returns the first n strips of s as strips to prefetch. It panics if there are fewer.
func NewAhead(n int, s Strips) *Ahead {
	if n > 0 {
		s.Values = s.first(n)
	}
	return &Ahead{s, n}
}

// asked is the number of strips that are prefetched at a time. They have about as many cache
// lines as one core can wait for.
const asked = 6

func (a *Ahead) ask(p Path) {
	n := min(asked, a.left)
	if n == 0 {
		return
	}
	simd.InterleavedOf(p).AskStrips(n, a.next.Values, a.next.Distance)
	if a.left -= n; a.left > 0 {
		a.next = a.next.From(n)
	}
}

// FWHTCollect sets near to the Walsh-Hadamard matrix of order n times the first n strips of far.
// near holds n adjacent strips. The highest levels are computed during the copy. Meanwhile it
// prefetches the strips of ahead. It runs on one core; use it inside For. It panics if far has
// fewer than n strips, and unless n is a power of two, at least two.
func FWHTCollect(near []float64, far Strips, ahead *Ahead) {
	fwhtCollectOn(Paths()[0], near, far, ahead)
}

func fwhtCollectOn(p Path, near []float64, far Strips, ahead *Ahead) {
	n := stripsOf(near)
	step, parts := simd.Butterflies64(p).Top(n)
	from, block := far.first(n), n/parts
	for i := range block {
		step(Strip, near[i*Strip:], block*Strip, from[i*far.Distance:], block*far.Distance)
		ahead.ask(p)
	}
	fwhtBlocks(p, near, block, ahead)
}

// FWHTSpread sets the first n strips of far to the Walsh-Hadamard matrix of order n times near,
// which holds n adjacent strips. It overwrites near.
func FWHTSpread(far Strips, near []float64, ahead *Ahead) {
	fwhtSpreadOn(Paths()[0], far, near, ahead)
}

func fwhtSpreadOn(p Path, far Strips, near []float64, ahead *Ahead) {
	n := stripsOf(near)
	step, parts := simd.Butterflies64(p).Top(n)
	to, block := far.first(n), n/parts
	fwhtBlocks(p, near, block, ahead)
	for i := range block {
		step(Strip, to[i*far.Distance:], block*far.Distance, near[i*Strip:], block*Strip)
		ahead.ask(p)
	}
}

// fwhtBlocks transforms each group of block consecutive strips in near.
func fwhtBlocks(p Path, near []float64, block int, ahead *Ahead) {
	for i := 0; i < len(near); i += block * Strip {
		fwhtColumnsOn(p, near[i:][:block*Strip], Strip)
		ahead.ask(p)
	}
}

// stripsOf returns the number of strips in near. It panics unless this number is a power of two, at
// least two.
func stripsOf(near []float64) int {
	n := len(near) / Strip
	if n*Strip != len(near) || n < 2 || n&(n-1) != 0 {
		panic(fmt.Sprintf("linalg: FWHT of %d values as strips of %d; use a power of two of these, at least two", len(near), Strip))
	}
	return n
}
