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

// Interleave stores the transpose of m in dst, as m.Cols rows of 8 values. m has at most 8 rows;
// missing rows count as zeros.
func Interleave(dst []float64, m Matrix[float64]) {
	if m.Rows > Interleaved {
		panic(fmt.Sprintf("linalg: %d interleaved vectors, at most %d", m.Rows, Interleaved))
	}
	packPanel(firstRows(dst, m.Cols), m, Interleaved, 0, m.Cols)
}

// Deinterleave is the inverse of [Interleave]. It sets m to the transpose of the first m.Rows
// columns of src. On the path AVX512, whole lines of m are written past the caches, since they are not
// read soon.
func Deinterleave(m Matrix[float64], src []float64) { deinterleaveOn(Paths()[0], m, src) }

func deinterleaveOn(p Path, m Matrix[float64], src []float64) {
	if m.Rows > Interleaved {
		panic(fmt.Sprintf("linalg: %d interleaved vectors, at most %d", m.Rows, Interleaved))
	}
	src = firstRows(src, m.Cols)
	_, past := simd.Transposers64(p)
	unpackPanel(m, firstRows(src, m.Cols), Interleaved, past)
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

// CopyStrips copies the first n strips of src to dst. It panics if there are fewer.
func CopyStrips(n int, dst, src Strips) { copyStripsOn(Paths()[0], n, dst, src) }

func copyStripsOn(p Path, n int, dst, src Strips) {
	if n > 0 {
		simd.InterleavedOf(p).CopyStrips(n, dst.first(n), dst.Distance, src.first(n), src.Distance)
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

// FWHTCollect multiplies the first n strips of src by the Walsh-Hadamard matrix of order n and
// stores the product in dst, which holds n adjacent strips. It computes the highest levels during
// the copy. Meanwhile it prefetches the strips in queue. It runs on one core; use it inside For. It
// panics if src has fewer than n strips, and unless n is a power of two, at least two.
func FWHTCollect(dst []float64, src Strips, queue *Ahead) {
	fwhtCollectOn(Paths()[0], dst, src, queue)
}

func fwhtCollectOn(p Path, dst []float64, src Strips, queue *Ahead) {
	n := stripsOf(dst)
	step, parts := simd.Butterflies64(p).Top(n)
	values, block := src.first(n), n/parts
	for i := range block {
		step(Strip, dst[i*Strip:], block*Strip, values[i*src.Distance:], block*src.Distance)
		queue.ask(p)
	}
	fwhtBlocks(p, dst, block, queue)
}

// FWHTSpread multiplies src, which holds n adjacent strips, by the Walsh-Hadamard matrix of order n
// and stores the product in the first n strips of dst. It overwrites src. Meanwhile it prefetches
// the strips in queue.
func FWHTSpread(dst Strips, src []float64, queue *Ahead) {
	fwhtSpreadOn(Paths()[0], dst, src, queue)
}

func fwhtSpreadOn(p Path, dst Strips, src []float64, queue *Ahead) {
	n := stripsOf(src)
	step, parts := simd.Butterflies64(p).Top(n)
	values, block := dst.first(n), n/parts
	fwhtBlocks(p, src, block, queue)
	for i := range block {
		step(Strip, values[i*dst.Distance:], block*dst.Distance, src[i*Strip:], block*Strip)
		queue.ask(p)
	}
}

// fwhtBlocks transforms the strips in values. The argument block is the number of consecutive
// strips that it transforms together.
func fwhtBlocks(p Path, values []float64, block int, queue *Ahead) {
	for i := 0; i < len(values); i += block * Strip {
		fwhtColumnsOn(p, values[i:][:block*Strip], Strip)
		queue.ask(p)
	}
}

// stripsOf returns the number of strips in values. It panics unless this number is a power of two,
// at least two.
func stripsOf(values []float64) int {
	n := len(values) / Strip
	if n*Strip != len(values) || n < 2 || n&(n-1) != 0 {
		panic(fmt.Sprintf("linalg: FWHT of %d values as strips of %d; use a power of two of these, at least two", len(values), Strip))
	}
	return n
}
