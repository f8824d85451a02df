package linalg

// block is the number of rows of an operand that are packed at a time: 8 MiB of float64.
const block = 4096

// distant is a number of values that are gone from the caches before they are read
// again: 16 MiB of float32.
const distant = 1 << 22

// product is the making of one dst. S is the type of the operands' numbers, T the type
// of the sums. With gram set, b is a, and each pair of mirrored tiles is computed
// once.
type product[S, T Float] struct {
	dst   Matrix[T]
	a, b  Matrix[S]
	gram  bool
	micro micro[T]
	edge  int // of a tile
	room  *workspace[T]
	turn  transposer[T] // of what is below the diagonal of a Gram matrix
}

// run computes dst block by block, only the lower triangle of them for a Gram
// matrix.
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
	p.room = take[T](ceil(min(m, block), p.micro.rows)*k, ceil(min(n, block), p.micro.cols)*k)
	defer p.room.leave()
	for j := 0; j < n; j += block {
		for i := 0; i < m; i += block {
			if !p.gram || i >= j {
				p.block(tile{i, min(i+block, m), j, min(j+block, n)})
			}
		}
	}
}

// block computes the block b of dst, depth columns of the operands at a time.
func (p *product[S, T]) block(b tile) {
	tiles := cover(b, p.edge, p.gram)
	for k := 0; k < p.a.Cols; k += depth {
		kEnd := min(k+depth, p.a.Cols)
		left := panels[T]{p.micro.rows, kEnd - k, p.room.left}
		right := panels[T]{p.micro.cols, kEnd - k, p.room.right}
		pack(left, p.a, b.i, b.iEnd, k, kEnd)
		pack(right, p.b, b.j, b.jEnd, k, kEnd)
		kernel := p.micro.add
		if k == 0 {
			kernel = p.micro.set
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

// pack fills p with rows row to rowEnd-1, columns k to kEnd-1 of m, on all
// cores, in the precision of T.
func pack[S, T Float](p panels[T], m Matrix[S], row, rowEnd, k, kEnd int) {
	count := (rowEnd-row-1)/p.width + 1
	For(count, max(1, packGrain/(p.width*p.depth)), func(lo, hi int) {
		for i := lo * p.width; i < hi*p.width; i += p.width {
			packPanel(p.at(i), m.Panel(row+i, min(row+i+p.width, rowEnd)), p.width, k, kEnd)
		}
	})
}

// tile has the micro-kernel compute the tile t of the block b. A panel of left
// stays in the first-level cache while the panels of right pass by, which stay in
// the second.
func (p *product[S, T]) tile(kernel func(k int, a, b, c []T, stride int), left, right panels[T], b, t tile) {
	var spill []T
	rows, cols := p.micro.rows, p.micro.cols
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

// edgeFor returns the edge of the tiles of a rows x cols product.
func edgeFor(rows, cols int) int {
	edge := maxEdge
	for edge > minEdge && ((rows-1)/edge+1)*((cols-1)/edge+1) < minTiles {
		edge /= 2
	}
	return edge
}

// cover cuts a block into tiles, only those not above the diagonal if lower.
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

// mirror copies what the tile t has below the diagonal to its place above: by
// squares, and value by value at the diagonal and where they do not fit.
func mirror[T Float](dst Matrix[T], t tile, squares transposer[T]) {
	for i := t.i; i < t.iEnd; i += squares.side {
		j, iEnd := t.j, min(i+squares.side, t.iEnd)
		if n := (min(t.jEnd, i) - j) / squares.side; n > 0 && iEnd == i+squares.side {
			squares.squares(n, dst.Data[j*dst.Stride+i:], dst.Stride, squares.side*dst.Stride, dst.Data[i*dst.Stride+j:], dst.Stride, squares.side)
			j += n * squares.side
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
