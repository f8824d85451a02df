package linalg

import "fmt"

// The shape of the work. One core computes one tile of dst at a time:
// the 384 KiB of the packed b that it reads over and over stay in the
// second-level cache. Depth is the one number here that results depend on (see the
// package comment); the others may be changed freely.
const (
	maxEdge  = 192 // rows and columns of a tile
	minEdge  = 48  // tiles of small products shrink to this, so that all cores get some
	minTiles = 16
	depth    = 256 // columns added up before a partial sum is closed
)

// MulTransB sets dst to a b^T, the inner products of all rows of a with all
// rows of b, on all cores: dst is m x n, a is m x k, b is n x k. It adds in
// the precision of T. It panics on other shapes; dst must not overlap a or b.
func MulTransB[T Float](dst, a, b Matrix[T]) { multiply(Paths()[0], dst, a, b, false) }

// MulTransBWide is MulTransB for rows in float32 that multiplies and adds in
// float64. Differences of inner products (distances between near-duplicates)
// survive only that way.
func MulTransBWide(dst Matrix[float64], a, b Matrix[float32]) {
	multiply(Paths()[0], dst, a, b, false)
}

// Syrk sets dst to a a^T, the Gram matrix of the rows of a, for half the work
// of MulTransB. Both triangles are written, exactly symmetric: dst is m x m, a
// is m x k. It panics on other shapes; dst must not overlap a.
func Syrk[T Float](dst, a Matrix[T]) { multiply(Paths()[0], dst, a, a, true) }

// SyrkWide is Syrk for rows in float32 that multiplies and adds in float64.
func SyrkWide(dst Matrix[float64], a Matrix[float32]) {
	multiply(Paths()[0], dst, a, a, true)
}

// MulTransBOn is MulTransB by a given path. It panics when the machine does not
// have it.
func MulTransBOn[T Float](path Path, dst, a, b Matrix[T]) {
	multiply(path, dst, a, b, false)
}

// SyrkOn is Syrk by a given path. It panics when the machine does not have it.
func SyrkOn[T Float](path Path, dst, a Matrix[T]) { multiply(path, dst, a, a, true) }

// multiply is the one product behind all.
func multiply[S, T Float](path Path, dst Matrix[T], a, b Matrix[S], gram bool) {
	if a.Cols != b.Cols || dst.Rows != a.Rows || dst.Cols != b.Rows {
		panic(fmt.Sprintf("linalg: %d x %d is not the shape of (%d x %d)(%d x %d)^T",
			dst.Rows, dst.Cols, a.Rows, a.Cols, b.Rows, b.Cols))
	}
	p := product[S, T]{dst: dst, a: a, b: b, gram: gram, micro: microOf[T](path)}
	through, past := transposersOf[T](path)
	if p.turn = through; len(dst.Data) >= distant {
		p.turn = past
	}
	p.run()
}

// transposersOf returns that through the caches and that past them, for what is
// not read soon.
func transposersOf[T Float](p Path) (through, past transposer[T]) {
	var zero T
	if _, single := any(zero).(float32); single {
		through, past := transposers32(p)
		return any(through).(transposer[T]), any(past).(transposer[T])
	}
	t, u := transposers64(p)
	return any(t).(transposer[T]), any(u).(transposer[T])
}
