package okra

import (
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// block is the paper's encoder (section 3.2.3): it permutes the features at random and multiplies
// consecutive blocks of features by small random frames O_1 to O_j. It differs from the authors'
// program as follows; no difference weakens the encoder.
//
//   - All blocks have about the same size. The program leaves 2.5 % of all features to the last
//     block.
//   - The k extra dimensions are spread at random over the blocks.
//   - Frames are Haar distributed.
//   - All integers are drawn from the epoch's seed. The program draws them from seeds 0 and 42.
//   - The encoded coordinates are permuted, too.
//
// The coordinates to which a frame's results move are drawn at random and then sorted. Sorting is
// harmless: O_i and P O_i have the same distribution for a Haar distributed O_i and every
// permutation P that does not depend on O_i. Sorted coordinates of one frame lie near each other
// in memory, so they are faster to move.
//
// The encoder is not secure; see the package comment. With blocks of b features it costs about
// (f+k) b multiply-adds for each row, and (f+k) b/2 Gaussian draws for each call of Encode.
type block struct {
	f, width int
	frames   []frame
	in       []uint32 // in[i] is the feature that moves to coordinate i; any index for the extra dimensions
	out      []uint32 // out[i] is the output coordinate to which coordinate i moves
	back     []uint32 // the inverse permutation of out
	stream   func() *prg.Stream
}

// frame gives the size of a frame O_i and the first coordinate on which O_i acts. O_i has rows x
// cols entries.
type frame struct{ at, cols, rows int }

func newBlock(stream func() *prg.Stream, width, f, k int) *block {
	s := stream()
	b := &block{f: f, width: f + k, stream: stream}
	sizes := blockSizes(s, width, f)
	extra := make([]int, len(sizes))
	for range k {
		extra[s.Uint64n(uint64(len(sizes)))]++
	}
	features, at := s.Perm32(f), 0
	b.in, b.out, b.back = make([]uint32, f+k), s.Perm32(f+k), make([]uint32, f+k)
	for i, c := range sizes {
		fr := frame{at, c, c + extra[i]}
		b.frames = append(b.frames, fr)
		features = features[copy(b.in[at:at+c], features):]
		slices.Sort(b.out[at : at+fr.rows])
		at += fr.rows
	}
	for i, to := range b.out {
		b.back[to] = uint32(i)
	}
	return b
}

// blockSizes splits f features into round(f/width) blocks of random sizes within 3 of the mean. It
// starts from equal sizes and moves single features at random.
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

// panel returns the number of rows that are encoded together. Encoding this number of rows costs
// about four times as much as making the frames.
func (b *block) panel() int { return 512 }

// pieces returns the number of pieces into which the encoding of the rows is divided. Each piece
// applies a range of frames to all rows. The first piece also permutes the features, and the last
// piece the coordinates. Making an entry of a frame takes about 7 ns, and applying it to a row .06
// ns.
func (b *block) pieces(rows int) int {
	entries := float64(b.width) * float64(b.f) / float64(len(b.frames))
	return min(len(b.frames), 1+int(entries*(7+.06*float64(rows))/pieceTime))
}

// Encode encodes all rows; it draws each frame once.
func (b *block) Encode(dst, src linalg.Matrix[float64]) { encode(b, dst, src) }

// distant is the number of values that fill the common cache of two cores, which has 16 MiB.
const distant = 1 << 21

// piece multiplies all rows by the frames of one piece of work. The first piece also moves the
// features of each frame next to each other. If each frame picked its own features from the rows,
// long rows would go through the cache once for every frame.
func (b *block) piece(dst, src linalg.Matrix[float64], i int) {
	n := b.pieces(src.Rows)
	first, end := i*len(b.frames)/n, (i+1)*len(b.frames)/n
	if i == 0 {
		pick := linalg.PickValues
		if dst.Rows*dst.Cols >= distant {
			pick = linalg.PickValuesAway
		}
		eachRow(dst, func(r, next int) { pick(dst.Row(r), src.Row(r), b.in, src.Row(next)) })
	}
	linalg.For(end-first, max(1, (end-first)/64), func(lo, hi int) {
		d := frameDrawer{stream: b.stream()} // one drawer for many frames, because each new stream derives a key
		for i := first + lo; i < first+hi; i++ {
			d.multiplyByFrame(dst, i, b.frames[i])
		}
	})
	if i == n-1 {
		eachRow(dst, func(r, next int) { b.scatter(dst.Row(r), dst.Row(next)) })
	}
}

// eachRow calls a function for every row of m, on all cores. Each core takes at least eight
// consecutive rows, if so many are left. The function receives the indices of the row and of the core's
// next row, which is the row itself at the end.
func eachRow(m linalg.Matrix[float64], do func(r, next int)) {
	linalg.For(m.Rows, max(8, 1<<16/m.Cols), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			do(r, min(r+1, hi-1))
		}
	})
}

// multiplyByFrame draws one frame and multiplies the rows of dst by it. Only the coordinates of
// this frame change.
func (d *frameDrawer) multiplyByFrame(dst linalg.Matrix[float64], i int, f frame) {
	linalg.Scratch(f.cols*f.rows, func(buffer []float64) {
		d.drawFrame(i, f, buffer)
		linalg.Reflect(columns(dst, f.at, f.at+f.rows), d.signs, d.vectors, d.betas)
	})
}

// frameDrawer draws random frames as products of reflections. It holds the reflections of one frame
// at a time.
type frameDrawer struct {
	stream  *prg.Stream
	signs   []int8
	vectors [][]float64
	betas   []float64
}

// drawFrame draws the reflections of one frame. It stores the vectors of the reflections in buffer.
func (d *frameDrawer) drawFrame(i int, f frame, buffer []float64) {
	d.signs, d.vectors, d.betas = d.signs[:0], d.vectors[:0], d.betas[:0]
	for j := range f.cols {
		r := drawReflection(d.stream, i, j, buffer[j*f.rows:][:f.rows-j])
		d.signs, d.vectors, d.betas = append(d.signs, int8(r.sign)), append(d.vectors, r.v), append(d.betas, r.beta)
	}
}

// scatter moves the coordinates to their output places.
func (b *block) scatter(row, next []float64) {
	linalg.Scratch(len(row), func(from []float64) {
		copy(from, row)
		linalg.PickValues(row, from, b.back, next)
	})
}
