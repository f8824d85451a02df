package okra

import (
	"fmt"
	"math/bits"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// Limits on the number of features.
const (
	MaxFeatures = 1 << 22
	// MaxHaarWidth limits the encoded width of encoder haar, because a row of width w costs about w^2
	// multiply-adds.
	MaxHaarWidth = 8192
	// MaxFlakeFeatures limits the features of encoder flake, because its mask takes 35 f^2 (f+k)
	// multiply-adds and 8 f (2f+k) bytes for f features and k extra dimensions.
	MaxFlakeFeatures = 8192
)

// Seed is the secret of an epoch: anyone who holds it and sees encoded rows can read the rows. All
// parties hold the seed; the server never does.
type Seed [32]byte

// String keeps the seed out of logs.
func (Seed) String() string { return "okra.Seed(secret)" }

// GoString keeps the seed out of logs.
func (Seed) GoString() string { return "okra.Seed(secret)" }

// Encoder is a linear isometry from f features to Width() = f+k coordinates. Inner products of
// encoded rows equal the rows' inner products (Theorem 3.1 of the paper). It is a function of
// parameters, seed, f and k. It is safe for concurrent use; encoder flake only after its first
// encoding.
//
// All parties must have the same isometry: inner products of two parties' rows are right only if
// their isometries A and B have A^T B = I, and then A = B. So "each party's own frames" in the
// paper must mean one shared seed.
type Encoder interface {
	// Width returns f+k, the number of coordinates of an encoded row.
	Width() int
	// Encode encodes each row of src (n x f) into the same row of dst (n x (f+k)), on all cores.
	// dst and src must not overlap. Rows are encoded together for speed only: a row's encoding does
	// not depend on the other rows.
	Encode(dst, src linalg.Matrix[float64])
	// panel returns how many rows a session encodes together if memory allows. These are so many that
	// the cost of common random draws, if any, is small for each row.
	panel() int
	// pieces returns the number of pieces into which the encoding of the given number of rows is
	// divided. A piece of a panel takes about pieceTime or less. The method piece computes one piece;
	// all pieces in order give the result of Encode.
	pieces(rows int) int
	piece(dst, src linalg.Matrix[float64], i int)
}

// preparer is an Encoder that needs a long computation before it encodes the first rows.
type preparer interface {
	// prepare does the next piece of the preparation, and reports whether the preparation is
	// complete.
	prepare() bool
}

// pieceTime is the target duration of one piece of work on one core, in nanoseconds. It is half of
// the 100 ms that a step is allowed to take, so that a step on a busy machine still takes only
// about 100 ms. Encoders estimate the duration of a piece from costs measured on one core of a
// 2020s server. The estimates depend on shapes alone, so a replay takes the same steps.
const pieceTime = 50e6

// encode encodes the rows of src into dst, piece by piece.
func encode(e Encoder, dst, src linalg.Matrix[float64]) {
	if src.Rows == 0 {
		return
	}
	for i := range e.pieces(src.Rows) {
		e.piece(dst, src, i)
	}
}

// NewEncoder returns the encoder that the parameters name. It refuses features or extra dimensions
// beyond [MaxFeatures], a width f+k beyond [MaxHaarWidth] for encoder haar, and features beyond
// [MaxFlakeFeatures] for encoder flake.
//
// An Encoder takes this memory:
//
//   - hadamard: at most 7 (rounds+1) (f+k) bytes, and 10 (f+k) bytes more in NewEncoder. During
//     Encode, also one row for each core, or 17 rows if rows are encoded interleaved, which is
//     so for f+k above 2^15 and up to 9 2^17.
//   - haar: 512 (f+k) bytes, 512 bytes for each row, and a second copy of dst, all during Encode.
//   - hbh: twice the memory of hadamard with one round.
//   - flake: 8 f (2f+k) bytes.
//   - block: 12 (f+k) bytes. During Encode, also one row, or one frame and its reflections (less
//     than 800 KiB together), for each core.
func NewEncoder(p Params, epoch Seed, f, k int) (Encoder, error) {
	if err := p.fits(f, k); err != nil {
		return nil, err
	}
	switch p.spec.Encoder {
	case Haar:
		return newHaar(p.stream(epoch, f, k), f, k), nil
	case HBH:
		return newHBH(p.stream(epoch, f, k), f, k), nil
	case Flake:
		return newFlake(p, p.stream(epoch, f, k), f, k), nil
	case Block:
		return newBlock(p.stream(epoch, f, k), p.spec.BlockWidth, f, k), nil
	}
	if window := windowOf(f + k); isWide(f+k, window) {
		return newWide(p.stream(epoch, f, k)(), p.spec.Rounds, f+k, window), nil
	}
	return newHadamard(p.stream(epoch, f, k)(), p.spec.Rounds, f, k), nil
}

// isWide reports whether rows are encoded eight at a time, interleaved. This applies to rows that
// do not fit the cache, have at most widest coordinates, and can be cut into parts. Padding makes
// all such rows divisible.
func isWide(width, window int) bool {
	return width > cachedWidth && width <= widest && width%part == 0 && window%part == 0
}

func newHaar(stream func() *prg.Stream, f, k int) *haar {
	return &haar{f: f, width: f + k, stream: stream}
}

func newHadamard(s *prg.Stream, rounds, f, k int) *hadamard {
	h := &hadamard{width: f + k, window: windowOf(f + k)}
	for range rounds + 1 {
		h.layers = append(h.layers, newLayer(s, h.width))
	}
	for range rounds {
		signs := make([]int8, h.window)
		s.Signs(signs)
		h.between = append(h.between, signs)
	}
	return h
}

// stream returns a function that opens the encoder's stream of random numbers. Each worker opens
// its own stream and seeks in it.
func (p Params) stream(epoch Seed, f, k int) func() *prg.Stream {
	var w wire.Writer
	w.Uint32(uint32(f))
	w.Uint32(uint32(k))
	return func() *prg.Stream { return prg.New(epoch, "okra/encoder", p.Encode(), w.Bytes()) }
}

func (p Params) fits(f, k int) error {
	switch {
	case p == Params{}:
		return fmt.Errorf("okra: the parameters are empty; make them with NewParams")
	case f < 1 || k < 0 || f > MaxFeatures || k > MaxFeatures:
		return fmt.Errorf("okra: rows have %d features and %d extra dimensions; at least 1 feature and 0 extra dimensions, and at most %d of each, are allowed", f, k, MaxFeatures)
	case p.spec.Encoder == Haar && f+k > MaxHaarWidth:
		return fmt.Errorf("okra: encoder haar, whose cost is quadratic in the width, takes at most %d coordinates, not %d; write \"encoder: hadamard\"", MaxHaarWidth, f+k)
	case p.spec.Encoder == Flake && f > MaxFlakeFeatures:
		return fmt.Errorf("okra: encoder flake, whose cost is cubic in the number of features, takes at most %d features, not %d; use protocol okra", MaxFlakeFeatures, f)
	}
	return nil
}

// Padding returns k, the number of coordinates that an encoder adds to f features, f >= 1. The
// encoded width f+k is the smallest number of the form (8+i) 2^e, i = 0..7, for which k is at least
// 64 and at least 2 % of f. While rows are fewer than features, the server learns only that f is
// one of the numbers with the same width.
func Padding(f int) int {
	least := f + max(64, (f+49)/50)
	step := 1 << max(0, bits.Len(uint(least-1))-4)
	return (least+step-1)/step*step - f
}
