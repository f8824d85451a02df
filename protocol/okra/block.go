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
// It is not secure; see the package comment. About (f+k) b multiply-adds a row,
// and (f+k) b/2 Gaussians for each call of Encode.
type block struct {
	f, width int
	frames   []frame
	in       []uint32 // feature that stands at place i before the frames
	out      []uint32 // coordinate to which place i after the frames goes
	back     []uint32 // the way back from there
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
	b.back = make([]uint32, f+k)
	for i, to := range b.out {
		b.back[to] = uint32(i)
	}
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

// panel is some four times the rows whose encoding costs as much as drawing and
// making the frames does.
func (b *block) panel() int { return 512 }

// pieces are ranges of frames; the first piece also puts the features in their
// places, the last the coordinates. Drawing and making an entry of a frame
// takes about 11 ns, encoding a row .08 for each.
func (b *block) pieces(rows int) int {
	entries := float64(b.width) * float64(b.f) / float64(len(b.frames))
	return min(len(b.frames), 1+int(entries*(11+.08*float64(rows))/pieceTime))
}

// Encode draws each frame once for all rows.
func (b *block) Encode(dst, src linalg.Matrix[float64]) { encode(b, dst, src) }

// piece reflects whole columns of dst, where each frame finds its features next
// to each other: were they picked from the rows for each frame by itself, long
// rows would go through the cache once for every frame.
func (b *block) piece(dst, src linalg.Matrix[float64], i int) {
	n := b.pieces(src.Rows)
	first, end := i*len(b.frames)/n, (i+1)*len(b.frames)/n
	if i == 0 {
		b.eachRow(dst.Rows, func(r int) { b.arrange(dst.Row(r), src.Row(r)) })
	}
	linalg.For(end-first, max(1, (end-first)/64), func(lo, hi int) {
		s := b.stream() // not for each frame: keys are derived for it
		for i := first + lo; i < first+hi; i++ {
			b.encodeFrame(dst, s, i)
		}
	})
	if i == n-1 {
		b.eachRow(dst.Rows, func(r int) { b.scatter(dst.Row(r)) })
	}
}

func (b *block) eachRow(rows int, do func(r int)) {
	linalg.For(rows, max(1, 1<<16/b.width), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			do(r)
		}
	})
}

// arrange puts the features of each frame at its first places; Reflect
// fills the others. It picks them from a copy, because memory foresees in which order
// the lines of a row come when it is copied.
func (b *block) arrange(to, row []float64) {
	linalg.Scratch(len(row), func(from []float64) {
		copy(from, row)
		for _, f := range b.frames {
			linalg.PickValues(to[f.out:f.out+f.cols], from, b.in[f.in:])
		}
	})
}

// encodeFrame multiplies by frame i.
func (b *block) encodeFrame(dst linalg.Matrix[float64], s *prg.Stream, i int) {
	f := b.frames[i]
	part := columns(dst, f.out, f.out+f.rows)
	vectors, betas, signs := make([][]float64, f.cols), make([]float64, f.cols), make([]int8, f.cols)
	linalg.Scratch(f.cols*f.rows, func(room []float64) {
		for j := range vectors {
			r := drawReflection(s, i, j, room[j*f.rows:][:f.rows-j])
			vectors[j], betas[j], signs[j] = r.v, r.beta, int8(r.sign)
		}
		linalg.Reflect(part, signs, vectors, betas)
	})
}

// scatter moves the coordinates to where they leave.
func (b *block) scatter(row []float64) {
	linalg.Scratch(len(row), func(from []float64) {
		copy(from, row)
		linalg.PickValues(row, from, b.back)
	})
}
