package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const unroll = 4

// product writes the micro-kernel, which multiplies a panel of a and a panel of b. It sets the tile
// of c, whose rows are stride values apart, to the product, or adds the product if grow is set. The
// k columns of a packed panel are consecutive. Each entry is one chain of fused multiply-adds from
// the first column to the last, so that its rounding does not depend on its place in the tile.
func (u unit) product(name string, grow bool) {
	begin(name+u.suffix, fmt.Sprintf("func(k int, a, b, c []%s, stride int)", u.value),
		fmt.Sprintf("%s%s is a micro-kernel for a tile of %d x %d values: see Micro.", name, u.suffix, u.rows, u.vectors*u.width/u.size))
	k, a, b := integer("k"), slice("a"), slice("b")
	c, stride := slice("c"), integer("stride")
	u.inBytes(stride)
	u.prefetch(c, stride)
	sums := u.tile(u.vectors)
	u.columns(name, k, a, b, sums)
	u.storeTile(sums, c, stride, grow)
	writeReturn()
}

// storeTile stores the sums in the tile at c, or adds them to the tile if grow is true.
func (u unit) storeTile(sums [][]VecVirtual, c, stride Register, grow bool) {
	for _, row := range sums {
		for v, sum := range row {
			at := Mem{Base: c, Disp: v * u.width}
			if grow {
				u.add(at, sum, sum)
			}
			u.store(sum, at)
		}
		ADDQ(stride, c)
	}
}

// productAsking writes a micro-kernel for the first vectors of a panel of b. Meanwhile it
// prefetches the rows of another tile, a few at a time, because the memory system handles only so
// many requests at once.
func (u unit) productAsking(vectors int) {
	name := fmt.Sprintf("set%dAsking", vectors)
	begin(name+u.suffix, fmt.Sprintf("func(k int, a, b, c []%s, stride int, ahead []%s, aheadStride int)", u.value, u.value),
		fmt.Sprintf("%s%s computes a tile of %d x %d values and prefetches the tile at ahead: see Asking.", name, u.suffix, u.rows, vectors*u.width/u.size))
	k, a, b := integer("k"), slice("a"), slice("b")
	c, stride, ahead, aheadStride := slice("c"), integer("stride"), slice("ahead"), integer("aheadStride")
	u.inBytes(stride)
	u.inBytes(aheadStride)
	rows := GP64()
	sums := u.tile(vectors)
	MOVQ(U32(u.rows), rows)
	Label("ask")
	CMPQ(k, Imm(unroll))
	JL(LabelRef("asked"))
	u.prefetchRow(ahead, vectors)
	ADDQ(aheadStride, ahead)
	for step := range unroll {
		u.column(a, b, step, sums)
	}
	u.advance(a, b, unroll)
	SUBQ(Imm(unroll), k)
	DECQ(rows)
	JNZ(LabelRef("ask"))
	Label("asked")
	u.columns(name, k, a, b, sums)
	u.storeTile(sums, c, stride, false)
	writeReturn()
}

// prefetch writes code that prefetches the tile of c. The tile is needed only at the end.
func (u unit) prefetch(c, stride Register) {
	at := GP64()
	MOVQ(c, at)
	for range u.rows {
		u.prefetchRow(at, u.vectors)
		ADDQ(stride, at)
	}
}

// prefetchRow prefetches the lines that hold the given number of vectors.
func (u unit) prefetchRow(at Register, vectors int) {
	for byte := 0; byte < vectors*u.width; byte += 64 {
		PREFETCHT0(Mem{Base: at, Disp: byte})
	}
	PREFETCHT0(Mem{Base: at, Disp: vectors*u.width - 1})
}

// columns writes the loop that adds up the products of all k columns, a few columns per turn.
func (u unit) columns(name string, k, a, b Register, sums [][]VecVirtual) {
	SUBQ(Imm(unroll), k)
	JL(LabelRef(name + "rest"))
	Label(name + "turn")
	for step := range unroll {
		u.column(a, b, step, sums)
	}
	u.advance(a, b, unroll)
	SUBQ(Imm(unroll), k)
	JGE(LabelRef(name + "turn"))
	Label(name + "rest")
	ADDQ(Imm(unroll), k)
	JZ(LabelRef(name + "done"))
	Label(name + "single")
	u.column(a, b, 0, sums)
	u.advance(a, b, 1)
	DECQ(k)
	JNZ(LabelRef(name + "single"))
	Label(name + "done")
}

// column writes code that adds the outer product of one column of a and one column of b.
func (u unit) column(a, b Register, step int, sums [][]VecVirtual) {
	row := make([]VecVirtual, len(sums[0]))
	for v := range row {
		row[v] = u.register()
		u.load(Mem{Base: b, Disp: (step*u.vectors + v) * u.width}, row[v])
	}
	for i := range sums {
		entry := u.register()
		u.broadcast(Mem{Base: a, Disp: (step*u.rows + i) * u.size}, entry)
		for v := range row {
			u.fma(row[v], entry, sums[i][v])
		}
	}
}

func (u unit) advance(a, b Register, steps int) {
	ADDQ(U32(steps*u.rows*u.size), a)
	ADDQ(U32(steps*u.vectors*u.width), b)
}

// peak writes a loop of independent fused multiply-adds only. A turn has one for each register of
// the tile.
func (u unit) peak() {
	TEXT("peak"+u.suffix, NOSPLIT, "func(turns int)")
	Doc(fmt.Sprintf("peak%s does %d fused multiply-adds per turn.", u.suffix, u.rows*u.vectors*u.width/u.size))
	turns := integer("turns")
	sums := u.tile(u.vectors)
	factor := u.register()
	u.zero(factor)
	Label("turn")
	for _, row := range sums {
		for _, sum := range row {
			u.fma(factor, factor, sum)
		}
	}
	DECQ(turns)
	JNZ(LabelRef("turn"))
	writeReturn()
}

func shift(size int) int {
	if size == 8 {
		return 3
	}
	return 2
}
