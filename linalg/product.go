package linalg

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/simd"
)

// These constants set the tile sizes of products. One core computes one tile of dst at a time: the
// 384 KiB of packed b that it reads repeatedly stay in the second-level cache. Results depend on
// depth only (see the package comment); the other constants can be changed, but edges must stay multiples
// of the rows and columns of every micro-kernel.
const (
	maxEdge  = 192 // greatest number of rows and of columns of a tile
	minEdge  = 48  // least edge of a tile; a small product has small tiles, so that each core gets some
	minTiles = 16
	depth    = 256 // number of columns that one partial sum adds
)

// MulTransB sets dst to a b^T, the inner products of all rows of a with all rows of b, on all
// cores. dst is m x n, a is m x k, and b is n x k. It sums in the precision of T. It panics on
// other shapes; dst must not overlap a or b.
func MulTransB[T Float](dst, a, b Matrix[T]) { multiply(Paths()[0], dst, a, b, false) }

// MulTransBWide is like [MulTransB] for rows in float32, but multiplies and adds in float64. Only
// that keeps small differences of inner products, such as distances between near-duplicates,
// accurate.
func MulTransBWide(dst Matrix[float64], a, b Matrix[float32]) {
	multiply(Paths()[0], dst, a, b, false)
}

// Syrk sets dst to a a^T, the Gram matrix of the rows of a, with half the work of [MulTransB]. It
// writes both triangles, exactly symmetric: dst is m x m, a is m x k. It panics on other shapes;
// dst must not overlap a.
func Syrk[T Float](dst, a Matrix[T]) { multiply(Paths()[0], dst, a, a, true) }

// SyrkWide is like [Syrk] for rows in float32, but multiplies and adds in float64.
func SyrkWide(dst Matrix[float64], a Matrix[float32]) {
	multiply(Paths()[0], dst, a, a, true)
}

// MulTransBOn is [MulTransB] with the instructions of the given path. It panics if the machine does
// not support it.
func MulTransBOn[T Float](path Path, dst, a, b Matrix[T]) {
	multiply(path, dst, a, b, false)
}

// SyrkOn is [Syrk] with the instructions of the given path. It panics if the machine does not
// support it.
func SyrkOn[T Float](path Path, dst, a Matrix[T]) { multiply(path, dst, a, a, true) }

// multiply sets dst to a b^T; gram means that b is a.
func multiply[S, T Float](path Path, dst Matrix[T], a, b Matrix[S], gram bool) {
	if a.Cols != b.Cols || dst.Rows != a.Rows || dst.Cols != b.Rows {
		panic(fmt.Sprintf("linalg: %d x %d is not the shape of (%d x %d)(%d x %d)^T",
			dst.Rows, dst.Cols, a.Rows, a.Cols, b.Rows, b.Cols))
	}
	p := product[S, T]{dst: dst, a: a, b: b, gram: gram, micro: microOf[T](path)}
	through, past := simd.TransposersOf[T](path)
	if p.turn = through; len(dst.Data) >= beyondCaches {
		p.turn = past
	}
	p.run()
}

// block is the number of rows of an operand that are packed at a time. They are at most 8 MiB of
// float64.
const block = 4096

// beyondCaches is the least number of values of a result that does not fit the caches. It is 16 MiB
// of float32.
const beyondCaches = 1 << 22

// product is the state of one matrix product. S is the type of the operands' numbers, T the type of
// the sums. With gram set, b is a, and each pair of mirrored tiles is computed once.
type product[S, T Float] struct {
	dst   Matrix[T]
	a, b  Matrix[S]
	gram  bool
	micro simd.Micro[T]
	edge  int // greatest edge of a tile
	room  *workspace[T]
	turn  simd.Transposer[T] // transposes the tiles below the diagonal of a Gram matrix
}

// run computes dst block by block. For a Gram matrix it computes only the lower triangle of blocks.
func (p *product[S, T]) run() {
	m, n, k := p.dst.Rows, p.dst.Cols, min(depth, p.a.Cols)
	if m == 0 || n == 0 {
		return
	}
	if k == 0 {
		for i := range m {
			clear(p.dst.Row(i))
		}
		return
	}
	p.edge = edgeFor(m, n)
	p.room = take[T](ceil(min(m, block), p.micro.Rows)*k, ceil(min(n, block), p.micro.Cols)*k)
	defer p.room.leave()
	for j := 0; j < n; j += block {
		for i := 0; i < m; i += block {
			if !p.gram || i >= j {
				p.block(tile{i, min(i+block, m), j, min(j+block, n)})
			}
		}
	}
}

// block computes block b of dst. It processes depth columns of the operands at a time.
func (p *product[S, T]) block(b tile) {
	tiles := cover(b, p.edge, p.gram)
	for k := 0; k < p.a.Cols; k += depth {
		kEnd := min(k+depth, p.a.Cols)
		left := panels[T]{p.micro.Rows, kEnd - k, p.room.left}
		right := panels[T]{p.micro.Cols, kEnd - k, p.room.right}
		pack(left, p.a, b.i, b.iEnd, k, kEnd)
		pack(right, p.b, b.j, b.jEnd, k, kEnd)
		kernel := p.micro.Add
		if k == 0 {
			kernel = p.micro.Set
		}
		For(len(tiles), 1, func(lo, hi int) {
			for _, t := range tiles[lo:hi] {
				p.tile(kernel, left, right, b, t)
				if p.gram && kEnd == p.a.Cols {
					mirror(p.dst, t, p.turn)
				}
			}
		})
	}
}

// pack packs rows row to rowEnd-1 and columns k to kEnd-1 of m into p. It runs on all cores and
// converts to the precision of T.
func pack[S, T Float](p panels[T], m Matrix[S], row, rowEnd, k, kEnd int) {
	count := (rowEnd-row-1)/p.width + 1
	For(count, max(1, packGrain/(p.width*p.depth)), func(lo, hi int) {
		for i := lo * p.width; i < hi*p.width; i += p.width {
			packPanel(p.at(i), m.Panel(row+i, min(row+i+p.width, rowEnd)), p.width, k, kEnd)
		}
	})
}

// tile runs the micro-kernel on tile t of block b. A panel of the left factor stays in the
// first-level cache while all panels of the right factor are read from the second-level cache.
func (p *product[S, T]) tile(kernel func(k int, a, b, c []T, stride int), left, right panels[T], b, t tile) {
	var spill []T
	rows, cols := p.micro.Rows, p.micro.Cols
	for i := t.i; i < t.iEnd; i += rows {
		for j := t.j; j < t.jEnd && !(p.gram && j >= i+rows); j += cols {
			c := p.dst.Data[i*p.dst.Stride+j:]
			if i+rows <= t.iEnd && j+cols <= t.jEnd {
				kernel(left.depth, left.at(i-b.i), right.at(j-b.j), c, p.dst.Stride)
				continue
			}
			if spill == nil {
				spill = make([]T, rows*cols)
			}
			inside := Matrix[T]{min(rows, t.iEnd-i), min(cols, t.jEnd-j), p.dst.Stride, c}
			around := Matrix[T]{inside.Rows, inside.Cols, cols, spill}
			copyRows(around, inside)
			kernel(left.depth, left.at(i-b.i), right.at(j-b.j), spill, cols)
			copyRows(inside, around)
		}
	}
}

func copyRows[T Float](to, from Matrix[T]) {
	for i := range to.Rows {
		copy(to.Row(i), from.Row(i))
	}
}

// ceil rounds n up to a multiple of m.
func ceil(n, m int) int { return (n + m - 1) / m * m }

// tile is the part of dst from row i to row iEnd-1, column j to jEnd-1.
type tile struct{ i, iEnd, j, jEnd int }

// edgeFor returns the edge length of the tiles of a product with the given rows and columns.
func edgeFor(rows, cols int) int {
	edge := maxEdge
	for edge > minEdge && ((rows-1)/edge+1)*((cols-1)/edge+1) < minTiles {
		edge /= 2
	}
	return edge
}

// cover cuts a block into tiles. If lower is set, it omits the tiles above the diagonal.
func cover(b tile, edge int, lower bool) []tile {
	var tiles []tile
	for j := b.j; j < b.jEnd; j += edge {
		for i := b.i; i < b.iEnd; i += edge {
			t := tile{i, min(i+edge, b.iEnd), j, min(j+edge, b.jEnd)}
			if !lower || t.iEnd > j {
				tiles = append(tiles, t)
			}
		}
	}
	return tiles
}

// mirror copies the part of tile t below the diagonal to its mirrored place above the diagonal. It
// copies by squares, and value by value at the diagonal and at edges.
func mirror[T Float](dst Matrix[T], t tile, squares simd.Transposer[T]) {
	for i := t.i; i < t.iEnd; i += squares.Side {
		j, iEnd := t.j, min(i+squares.Side, t.iEnd)
		if n := (min(t.jEnd, i) - j) / squares.Side; n > 0 && iEnd == i+squares.Side {
			squares.Squares(n, dst.Data[j*dst.Stride+i:], dst.Stride, squares.Side*dst.Stride, dst.Data[i*dst.Stride+j:], dst.Stride, squares.Side)
			j += n * squares.Side
		}
		for ; j < min(t.jEnd, iEnd); j++ {
			from := max(i, j)
			above := dst.Row(j)[from:iEnd]
			for r := range above {
				above[r] = dst.Data[(from+r)*dst.Stride+j]
			}
		}
	}
}
