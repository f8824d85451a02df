package okra

import (
	"math"

	"github.com/mercer-fl/mercer/internal/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// block is the paper's encoder (section 3.2.3): Gamma = O_1 (+) ... (+) O_j, a
// direct sum of small random frames, after a random permutation of the
// features. Differences to the authors' program, none of which weakens it:
// sizes are even where theirs leave 2.5 % of all features to the last block,
// the k extra dimensions are spread at random over the blocks, frames are Haar
// distributed, all integers come from the epoch's seed where theirs come from
// seeds 0 and 42, and the coordinates are permuted on the way out too.
//
// It is not secure; see the package comment. About 2 (f+k) b multiply-adds a
// row, and (f+k) b/2 Gaussians for each call of Encode.
type block struct {
	f, width int
	frames   []frame
	in       []uint32 // feature that stands at place i before the frames
	out      []uint32 // coordinate to which place i after the frames goes
	stream   func() *prg.Stream
}

// frame is O_i: rows x cols, from place in to place out.
type frame struct{ in, out, cols, rows int }

func newBlock(stream func() *prg.Stream, width, f, k int) *block {
	s := stream()
	b := &block{f: f, width: f + k, stream: stream}
	sizes := blockSizes(s, width, f)
	extra := make([]int, len(sizes))
	for range k {
		extra[s.Uint64n(uint64(len(sizes)))]++
	}
	b.in, b.out = s.Perm32(f), s.Perm32(f+k)
	at := frame{}
	for i, c := range sizes {
		at.cols, at.rows = c, c+extra[i]
		b.frames = append(b.frames, at)
		at.in += at.cols
		at.out += at.rows
	}
	return b
}

// blockSizes cuts f into round(f/width) sizes that differ from the mean by at
// most 3: equal ones first, then random transfers of one.
func blockSizes(s *prg.Stream, width, f int) []int {
	n := max(1, int(math.Round(float64(f)/float64(width))))
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = f / n
		if i < f%n {
			sizes[i]++
		}
	}
	least, most := (f+n-1)/n-3, f/n+3
	for range 4 * n {
		i, j := s.Uint64n(uint64(n)), s.Uint64n(uint64(n))
		if sizes[i] < most && sizes[j] > least {
			sizes[i]++
			sizes[j]--
		}
	}
	return sizes
}

func (b *block) Width() int { return b.width }

// panel is some ten times the rows whose encoding costs as much as drawing the
// frames does.
func (b *block) panel() int { return 32 }

// pieces are ranges of frames. Drawing takes about 6 ns, encoding a row 1.3,
// for each entry of a frame.
func (b *block) pieces(rows int) int {
	entries := float64(b.width) * float64(b.f) / float64(len(b.frames))
	return min(len(b.frames), 1+int(entries*(6+1.3*float64(rows))/pieceTime))
}

// Encode draws each frame once for all rows.
func (b *block) Encode(dst, src linalg.Matrix[float64]) { encode(b, dst, src) }

func (b *block) piece(dst, src linalg.Matrix[float64], i int) {
	n := b.pieces(src.Rows)
	first, end := i*len(b.frames)/n, (i+1)*len(b.frames)/n
	linalg.For(end-first, 1, func(lo, hi int) {
		s := b.stream()
		for i := first + lo; i < first+hi; i++ {
			b.encodeFrame(dst, src, b.frames[i], b.draw(s, i))
		}
	})
}

// draw returns the reflections of frame i.
func (b *block) draw(s *prg.Stream, i int) []reflection {
	f := b.frames[i]
	reflections := make([]reflection, f.cols)
	for j := range reflections {
		reflections[j] = drawReflection(s, i, j, make([]float64, f.rows-j))
	}
	return reflections
}

func (b *block) encodeFrame(dst, src linalg.Matrix[float64], f frame, reflections []reflection) {
	x := make([]float64, f.rows)
	for i := range src.Rows {
		from, to := src.Row(i), dst.Row(i)
		clear(x)
		for c, r := range reflections {
			x[c] = r.sign * from[b.in[f.in+c]]
		}
		for j := len(reflections) - 1; j >= 0; j-- {
			reflections[j].apply(x[j:])
		}
		for c, v := range x {
			to[b.out[f.out+c]] = v
		}
	}
}
