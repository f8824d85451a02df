package okra

import (
	"math"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
)

// flake is the encoder of FLAKE (Hannemann et al.), the protocol that preceded OKRA. Its paper
// multiplies rows by L (N N^T)^{1/2} for a secret (f+k) x f matrix N with the left inverse L. With
// N = U S V^T that is V U^T, the transpose of N's polar factor, so FLAKE is OKRA with one dense
// block. The polar factor is made here without any decomposition, by products of matrices: about 35
// f^2 (f+k) multiply-adds before the first row, and f (f+k) for each row.
//
// The paper draws the entries of N uniformly from [0, 1). The mean of N is then a publicly known
// matrix of rank 1, so the sum of an encoded row reveals the sum of the features. Mode hardened
// draws Gaussians, whose polar factor is uniformly random, like encoder haar.
type flake struct {
	f, width int
	normal   bool // the entries of N are Gaussian, as in mode hardened
	stream   func() *prg.Stream

	attempt   int                    // number of matrices N drawn and rejected
	remaining []func()               // the pieces of the preparation that are still to do, in order
	mask      linalg.Matrix[float64] // f x width: the transpose of N; the iterations turn it into the transpose of N's polar factor
	step      linalg.Matrix[float64] // f x f: the factor by which an iteration multiplies the mask
	distance  float64                // largest absolute entry of X^T X - I for the mask X, before the last iteration
	ready     bool
}

const (
	// pieceWork is the largest number of multiply-adds in one piece of work.
	pieceWork = 4e8
	// pieceDraws is the number of matrix entries that one piece of work draws, at 12 ns each.
	pieceDraws = 4 << 20
	// correctable is the largest distance from an orthonormal matrix that one iteration can
	// correct.
	correctable = 1e-7
)

func newFlake(p Params, stream func() *prg.Stream, f, k int) *flake {
	return &flake{f: f, width: f + k, normal: p.spec.Mode != Paper, stream: stream}
}

func (e *flake) Width() int { return e.width }

func (e *flake) panel() int { return 4096 }

// prepare does one piece of the work on the mask, and reports whether the mask is complete. A
// matrix that is nearly of lower rank, or beyond its likely size, does not become orthonormal;
// prepare then draws another one.
func (e *flake) prepare() bool {
	if e.remaining == nil {
		e.planPreparation()
	}
	e.remaining[0]()
	if e.remaining = e.remaining[1:]; len(e.remaining) > 0 {
		return false
	}
	if e.distance > correctable {
		e.attempt, e.remaining = e.attempt+1, nil
		return false
	}
	e.step, e.ready = linalg.Matrix[float64]{}, true
	return true
}

// planPreparation lists all pieces of the preparation. They draw the matrix and compute the factor
// and the product of each iteration.
func (e *flake) planPreparation() {
	e.mask, e.step = linalg.New[float64](e.f, e.width), linalg.New[float64](e.f, e.f)
	least, most := e.bounds()
	e.addPieces(e.f, pieceDraws/e.width, func(lo, hi int) { e.drawRows(lo, hi, 1/most) })
	each := int(pieceWork / (float64(e.f) * float64(e.width)))
	for _, s := range scalesFrom(least / most) {
		e.addPieces(e.f, each, func(lo, hi int) { e.factor(lo, hi, s) })
		e.addPieces(e.width, int(pieceWork/(float64(e.f)*float64(e.f))), e.iterate)
	}
}

// addPieces appends the work on n items to e.remaining, in pieces of at most size items.
func (e *flake) addPieces(n, size int, do func(lo, hi int)) {
	size = max(1, size)
	for lo := 0; lo < n; lo += size {
		e.remaining = append(e.remaining, func() { do(lo, min(n, lo+size)) })
	}
}

// bounds returns a lower and an upper bound on the singular values of N. Nearly every N is within
// the bounds. The lower bound is a quarter of the expected smallest singular value (Davidson and
// Szarek, Handbook of the Geometry of Banach Spaces 1, 2001), which is about 1/sqrt(f) for a square
// matrix.
func (e *flake) bounds() (least, most float64) {
	f, w := math.Sqrt(float64(e.f)), math.Sqrt(float64(e.width))
	least, most = max(w-f, .5/w)/4, w+f+10
	if e.normal {
		return least, most
	}
	deviation := math.Sqrt(1. / 12)
	return least * deviation, most*deviation + f*w/2
}

// scalesFrom returns the scales of the iterations that make the mask orthonormal. With scale s, an
// iteration is X <- s X (3 I - s^2 X^T X) / 2. The iterations bring singular values between l and 1
// to 1. Each scale is the best for the interval that the previous iteration leaves (Chen and Chow,
// 2014). Without scales, small singular values would only grow by half in each iteration.
func scalesFrom(l float64) (scales []float64) {
	for l < 1-1e-9 {
		s := math.Sqrt(3 / (1 + l + l*l))
		scales = append(scales, s)
		l *= s * (3 - s*s*l*l) / 2
	}
	return append(scales, 1)
}

// drawRows fills rows start to end-1 of the mask with random entries of N, times scale.
func (e *flake) drawRows(start, end int, scale float64) {
	linalg.For(end-start, 4, func(lo, hi int) {
		s := e.stream()
		for i := start + lo; i < start+hi; i++ {
			row := e.mask.Row(i)
			s.Seek(vectorPlace(e.attempt, i))
			e.fill(s, row)
			for j := range row {
				row[j] *= scale
			}
		}
	})
}

func (e *flake) fill(s *prg.Stream, row []float64) {
	if e.normal {
		s.Normals(row)
		return
	}
	for j := range row {
		row[j] = s.Float64()
	}
}

// factor computes rows lo to hi-1 of the symmetric factor s (3 I - s^2 X^T X) / 2. It computes the
// entries up to the diagonal and mirrors them to the other side.
func (e *flake) factor(lo, hi int, s float64) {
	if lo == 0 {
		e.distance = 0
	}
	part := columns(e.step.Panel(lo, hi), 0, hi)
	linalg.MulTransB(part, e.mask.Panel(lo, hi), e.mask.Panel(0, hi))
	for i := range part.Rows {
		row := part.Row(i)[:lo+i+1]
		for j, v := range row {
			unit := 0.
			if j == lo+i {
				unit = 1
			}
			e.distance = max(e.distance, math.Abs(v-unit))
			row[j] = s * (3*unit - s*s*v) / 2
			e.step.Row(j)[lo+i] = row[j]
		}
	}
}

// iterate multiplies columns lo to hi-1 of the mask by the iteration's factor.
func (e *flake) iterate(lo, hi int) {
	linalg.Scratch(e.f*(hi-lo), func(room []float64) {
		part := columns(e.mask, lo, hi)
		linalg.MulTransB(part, e.step, transpose(room, part))
	})
}

// pieces returns the number of pieces into which the encoding of the rows is divided. Each piece
// computes a range of coordinates of all rows. Transposing the mask costs as much as encoding 16
// rows.
func (e *flake) pieces(rows int) int { return (e.width-1)/e.coordinatesPerPiece(rows) + 1 }

// coordinatesPerPiece returns how many coordinates one piece of work computes.
func (e *flake) coordinatesPerPiece(rows int) int {
	return max(1, int(pieceWork/(float64(rows+16)*float64(e.f))))
}

// Encode encodes all rows. It first computes the mask if that has not been done.
func (e *flake) Encode(dst, src linalg.Matrix[float64]) {
	for !e.ready && !e.prepare() {
	}
	encode(e, dst, src)
}

func (e *flake) piece(dst, src linalg.Matrix[float64], i int) {
	lo := i * e.coordinatesPerPiece(src.Rows)
	hi := min(e.width, lo+e.coordinatesPerPiece(src.Rows))
	linalg.Scratch(e.f*(hi-lo), func(room []float64) {
		linalg.MulTransB(columns(dst, lo, hi), src, transpose(room, columns(e.mask, lo, hi)))
	})
}
