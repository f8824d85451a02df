package okra

import (
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// hbh is an encoder that applies random rotations between two rounds of encoder hadamard. Each
// rotation mixes 32 adjacent coordinates; the last can mix fewer. The rounds use a public transform;
// the rotations add 16 secret numbers for each coordinate. A row takes at most 4 log2(f+k) additions
// and 32 multiply-adds for each coordinate, and a panel takes 16 (f+k) Gaussians.
//
// Like encoder hadamard, hbh has no proof of security.
type hbh struct {
	width       int
	first, last *hadamard
	stream      func() *prg.Stream
}

// rotated is the number of coordinates that a rotation mixes.
const rotated = 32

func newHBH(stream func() *prg.Stream, f, k int) *hbh {
	s := stream()
	return &hbh{width: f + k, first: newHadamard(s, 1, f, k), last: newHadamard(s, 1, f, k), stream: stream}
}

func (h *hbh) Width() int { return h.width }

// panel returns the number of rows that are encoded together. Rotating this number of rows costs
// about four times as much as drawing the rotations.
func (h *hbh) panel() int { return 512 }

// rotations returns the number of rotations that cover all coordinates.
func (h *hbh) rotations() int { return (h.width + rotated - 1) / rotated }

// transformPieces returns the number of pieces into which the work of one round of transforms is
// split.
func (h *hbh) transformPieces(rows int) int { return (rows + h.first.panel() - 1) / h.first.panel() }

// rotationPieces returns the number of pieces into which the work of the rotations is split. Making
// an entry of a rotation takes about 7 ns, and applying it to a row .06 ns.
func (h *hbh) rotationPieces(rows int) int {
	entries := float64(h.width) * rotated
	return min(h.rotations(), 1+int(entries*(7+.06*float64(rows))/pieceTime))
}

func (h *hbh) pieces(rows int) int { return 2*h.transformPieces(rows) + h.rotationPieces(rows) }

func (h *hbh) Encode(dst, src linalg.Matrix[float64]) { encode(h, dst, src) }

func (h *hbh) piece(dst, src linalg.Matrix[float64], i int) {
	once, between := h.transformPieces(src.Rows), h.rotationPieces(src.Rows)
	switch {
	case i < once:
		h.transform(h.first, dst, src, i)
	case i < once+between:
		i -= once
		h.rotate(dst, i*h.rotations()/between, (i+1)*h.rotations()/between)
	default:
		h.transform(h.last, dst, dst, i-once-between)
	}
}

// transform applies one round of encoder hadamard to the i-th panel of rows.
func (h *hbh) transform(round *hadamard, dst, src linalg.Matrix[float64], i int) {
	lo := i * round.panel()
	hi := min(src.Rows, lo+round.panel())
	round.piece(dst.Panel(lo, hi), src.Panel(lo, hi), 0)
}

// rotate applies the rotations with numbers start to end-1 to all rows.
func (h *hbh) rotate(dst linalg.Matrix[float64], start, end int) {
	linalg.For(end-start, max(1, (end-start)/64), func(lo, hi int) {
		d := frameDrawer{stream: h.stream()}
		for i := start + lo; i < start+hi; i++ {
			at := i * rotated
			n := min(rotated, h.width-at)
			d.multiplyByFrame(dst, i, frame{at, n, n})
		}
	})
}
