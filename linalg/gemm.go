package linalg

import "fmt"

// The shape of the work. A tile of dst is what one core computes at a time:
// its 288 KiB of sums stay in the second-level cache together with the packed
// operands. Depth is the one number here that results depend on (see the
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
func MulTransB[T Float](dst, a, b Matrix[T]) { multiply(dst, a, b, false) }

// MulTransBWide is MulTransB for rows in float32 that multiplies and adds in
// float64. Differences of inner products (distances between near-duplicates)
// survive only that way.
func MulTransBWide(dst Matrix[float64], a, b Matrix[float32]) { multiply(dst, a, b, false) }

// Syrk sets dst to a a^T, the Gram matrix of the rows of a, for half the work
// of MulTransB. Both triangles are written, exactly symmetric: dst is m x m, a
// is m x k. It panics on other shapes; dst must not overlap a.
func Syrk[T Float](dst, a Matrix[T]) { multiply(dst, a, a, true) }

// SyrkWide is Syrk for rows in float32 that multiplies and adds in float64.
func SyrkWide(dst Matrix[float64], a Matrix[float32]) { multiply(dst, a, a, true) }

// SquaredNorms sets dst[i] to the inner product of row i of a with itself,
// bit for bit the diagonal that Syrk (SyrkWide for float32) computes. It
// panics unless dst is as long as a has rows.
func SquaredNorms[T Float](dst []float64, a Matrix[T]) {
	if len(dst) != a.Rows {
		panic(fmt.Sprintf("linalg: %d squared norms of %d rows", len(dst), a.Rows))
	}
	free := newPacks[T, float64](1, 1, a.Cols)
	For(a.Rows, max(1, 1<<14/max(1, a.Cols)), func(lo, hi int) {
		p := free.get()
		defer free.put(p)
		for i := lo; i < hi; i++ {
			norm := Matrix[float64]{Rows: 1, Cols: 1, Stride: 1, Data: dst[i : i+1]}
			row := a.Panel(i, i+1)
			p.product(norm, row, row, tile{0, 1, 0, 1}) // not a plain loop: that may round otherwise
		}
	})
}

// multiply is the one product behind the four. S is what the operands hold, T
// what is added. With gram set, b is a, and each pair of mirrored tiles is
// computed once.
func multiply[S, T Float](dst Matrix[T], a, b Matrix[S], gram bool) {
	if a.Cols != b.Cols || dst.Rows != a.Rows || dst.Cols != b.Rows {
		panic(fmt.Sprintf("linalg: %d x %d is not the shape of (%d x %d)(%d x %d)^T",
			dst.Rows, dst.Cols, a.Rows, a.Cols, b.Rows, b.Cols))
	}
	edge := edgeFor(dst.Rows, dst.Cols)
	tiles := cover(dst.Rows, dst.Cols, edge, gram)
	free := newPacks[S, T](min(edge, dst.Rows), min(edge, dst.Cols), a.Cols)
	For(len(tiles), 1, func(lo, hi int) {
		p := free.get()
		defer free.put(p)
		for _, t := range tiles[lo:hi] {
			p.product(dst, a, b, t)
			if gram && t.i != t.j {
				mirror(dst, t)
			}
		}
	})
}

// tile is the part of dst from row i to row iEnd-1, column j to jEnd-1.
type tile struct{ i, iEnd, j, jEnd int }

// edgeFor returns the edge of the tiles of a rows x cols product.
func edgeFor(rows, cols int) int {
	edge := maxEdge
	for edge > minEdge && ((rows-1)/edge+1)*((cols-1)/edge+1) < minTiles {
		edge /= 2
	}
	return edge
}

// cover cuts a matrix into tiles, only the lower triangle of them if lower.
func cover(rows, cols, edge int, lower bool) []tile {
	var tiles []tile
	for i := 0; i < rows; i += edge {
		for j := 0; j < cols && (!lower || j <= i); j += edge {
			tiles = append(tiles, tile{i, min(i+edge, rows), j, min(j+edge, cols)})
		}
	}
	return tiles
}

// mirror copies the tile t, below the diagonal, to its place above.
func mirror[T Float](dst Matrix[T], t tile) {
	for j := t.j; j < t.jEnd; j++ {
		above := dst.Row(j)
		for i := t.i; i < t.iEnd; i++ {
			above[i] = dst.Data[i*dst.Stride+j]
		}
	}
}
