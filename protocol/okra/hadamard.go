package okra

import (
	"math"
	"math/bits"

	"github.com/mercer-fl/mercer/linalg"
)

// hadamard is Mercer's default encoder: rounds of permutations, sign changes and fast
// Walsh-Hadamard transforms (FWHT). Each round permutes the coordinates and changes signs,
// transforms the first 2^floor(log2 width) coordinates, changes signs, and transforms as many last
// coordinates. After the rounds come another permutation and signs. The two windows overlap, so no
// width needs padding to a power of two; a width that is a power of two has a single window. A row
// takes at most 2 rounds (f+k) log2(f+k) additions.
//
// The package comment explains the signs between the windows.
//
// One round hides nothing: the transform is public. For two rounds or more no attack beyond the
// Gram matrix is known, but none is excluded: the encoder is heuristic.
type hadamard struct {
	width, window int
	layers        []layer  // one layer at the start of each round, and one after the last round
	between       [][]int8 // for each round, the signs that the last window is multiplied by; not used if there is one window
}

// windowOf returns the largest power of two that is at most width.
func windowOf(width int) int { return 1 << (bits.Len(uint(width)) - 1) }

func (h *hadamard) Width() int { return h.width }

// panel returns the number of rows whose encoding takes about pieceTime. Rows share no random
// draws, so a larger panel would not save time. A layer and the transforms before it take 0.2 ns
// for each coordinate and doubling of the width, and three times as long on a busy machine.
func (h *hadamard) panel() int {
	return max(1, int(pieceTime/(.6*float64(len(h.layers)*h.width*bits.Len(uint(h.width))))))
}

func (h *hadamard) pieces(int) int { return 1 }

func (h *hadamard) Encode(dst, src linalg.Matrix[float64]) { encode(h, dst, src) }

func (h *hadamard) piece(dst, src linalg.Matrix[float64], _ int) {
	linalg.For(src.Rows, max(1, 1<<16/h.width), func(lo, hi int) {
		linalg.Scratch(h.width, func(scratch []float64) {
			for i := lo; i < hi; i++ {
				h.encodeRow(dst.Row(i), src.Row(i), scratch)
			}
		})
	})
}

// encodeRow encodes one row.
func (h *hadamard) encodeRow(dst, src, scratch []float64) {
	clear(dst[copy(dst, src):])
	for r, between := range h.between {
		h.layers[r].order.apply(dst, scratch)
		h.mix(dst, h.layers[r].signs, between)
	}
	last := h.layers[len(h.between)]
	last.order.apply(dst, scratch)
	linalg.Flip(dst, last.signs)
}

// mix changes signs and computes the orthonormal Walsh-Hadamard transforms of the windows.
func (h *hadamard) mix(x []float64, signs, between []int8) {
	scale := 1 / math.Sqrt(float64(h.window))
	linalg.SignedFWHT(x[:h.window], signs, scale)
	if h.window < h.width {
		linalg.Flip(x[h.window:], signs[h.window:])
		linalg.SignedFWHT(x[h.width-h.window:], between, scale)
	}
}
