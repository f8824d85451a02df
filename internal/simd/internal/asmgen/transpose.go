package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// transpose writes the function that transposes squares whose rows are cache lines.
func (u unit) transpose() {
	t := u.transposes("transpose", "transposes n squares of")
	Label("turn")
	u.transposeSquares(t, u.store)
	t.finish()
}

// transposeAway writes the function that transposes squares past the caches. Rows that are not
// whole cache lines are written through the caches.
func (u unit) transposeAway() {
	t := u.transposes("transposeAway", "transposes n squares, and writes past the caches if the rows of dst are cache lines. Squares have")
	aligned := GP64()
	MOVQ(t.dst, aligned)
	ORQ(t.dstDistance, aligned)
	ORQ(t.dstStep, aligned)
	TESTQ(U32(line-1), aligned)
	JNZ(LabelRef("turn"))
	Label("away")
	u.transposeSquares(t, past)
	DECQ(t.left)
	JNZ(LabelRef("away"))
	SFENCE()
	writeReturn()
	Label("turn")
	u.transposeSquares(t, u.store)
	t.finish()
}

// transposes is the loop of a generated function over squares.
type transposes struct {
	rowLoop
	dst, dstDistance, dstStep, src, srcDistance, srcStep Register
}

func (u unit) transposes(name, what string) transposes {
	side := line / u.size
	begin(name+u.suffix, fmt.Sprintf("func(n int, dst []%[1]s, dstDistance, dstStep int, src []%[1]s, srcDistance, srcStep int)", u.value),
		fmt.Sprintf("%s%s %s %d x %[4]d values. Rows of a square are a distance apart, and squares are a step apart. The number n is positive.", name, u.suffix, what, side))
	r := rowLoop{u, integer("n")}
	return transposes{r, slice("dst"), u.bytes("dstDistance"), u.bytes("dstStep"), slice("src"), u.bytes("srcDistance"), u.bytes("srcStep")}
}

// transposeSquares writes the transposition of one square. It transposes smaller squares with as
// many rows as a register has lanes.
func (u unit) transposeSquares(t transposes, store instruction) {
	lanes, side := u.width/u.size, line/u.size
	for i := 0; i < side; i += lanes {
		for j := 0; j < side; j += lanes {
			u.transposeSquare(store, walk(t.dst, t.dstDistance, j), t.dstDistance, i*u.size, walk(t.src, t.srcDistance, i), t.srcDistance, j*u.size)
		}
	}
	ADDQ(t.dstStep, t.dst)
	ADDQ(t.srcStep, t.src)
}

// bytes loads a parameter that counts values, and converts the count to bytes.
func (u unit) bytes(name string) Register {
	n := integer(name)
	u.inBytes(n)
	return n
}

func (u unit) inBytes(values Register) {
	SHLQ(Imm(uint64(shift(u.size))), values)
}

// walk returns the address of the given row.
func walk(src, distance Register, row int) Register {
	at := GP64()
	MOVQ(src, at)
	for range row {
		ADDQ(distance, at)
	}
	return at
}

// transposeSquare transposes a square with as many rows and columns as a register has lanes. It
// first transposes values in units of 16 bytes, and then the units.
func (u unit) transposeSquare(store instruction, dst, dstDistance Register, dstAt int, src, srcDistance Register, srcAt int) {
	v := make([]VecVirtual, u.width/u.size)
	for i := range v {
		v[i] = u.register()
		u.load(Mem{Base: src, Disp: srcAt}, v[i])
		ADDQ(srcDistance, src)
	}
	if u.size == 4 {
		for i := 0; i < len(v); i += 4 {
			a, b := u.interleave(VUNPCKLPS, VUNPCKHPS, v[i], v[i+1])
			c, d := u.interleave(VUNPCKLPS, VUNPCKHPS, v[i+2], v[i+3])
			v[i], v[i+1] = u.interleave(VUNPCKLPD, VUNPCKHPD, a, c)
			v[i+2], v[i+3] = u.interleave(VUNPCKLPD, VUNPCKHPD, b, d)
		}
	} else {
		for i := 0; i < len(v); i += 2 {
			v[i], v[i+1] = u.interleave(VUNPCKLPD, VUNPCKHPD, v[i], v[i+1])
		}
	}
	for _, row := range u.sixteensToRows(v) {
		store(row, Mem{Base: dst, Disp: dstAt})
		ADDQ(dstDistance, dst)
	}
}

// interleave interleaves the values of two registers. It returns the results of the lower and of
// the upper halves of each 16 bytes.
func (u unit) interleave(lower, upper instruction, a, b VecVirtual) (VecVirtual, VecVirtual) {
	low, high := u.register(), u.register()
	lower(b, a, low)
	upper(b, a, high)
	return low, high
}

// sixteensToRows completes a transposition by moving units of 16 bytes. A unit has c values.
// Register c i + h of v holds the columns h, h+c, ... of rows c i to c i + c - 1, one column in
// each unit.
func (u unit) sixteensToRows(v []VecVirtual) []VecVirtual {
	rows, c := make([]VecVirtual, len(v)), 16/u.size
	shuffle := func(how uint8, a, b VecVirtual) VecVirtual {
		r := u.register()
		if u.width == 32 {
			VPERM2F128(U8(how), b, a, r)
		} else {
			VSHUFF64X2(U8(how), b, a, r)
		}
		return r
	}
	for h := range c {
		if u.width == 32 {
			rows[h], rows[h+c] = shuffle(0x20, v[h], v[h+c]), shuffle(0x31, v[h], v[h+c])
			continue
		}
		even0, even1 := shuffle(0x88, v[h], v[h+c]), shuffle(0x88, v[h+2*c], v[h+3*c])
		odd0, odd1 := shuffle(0xdd, v[h], v[h+c]), shuffle(0xdd, v[h+2*c], v[h+3*c])
		rows[h], rows[h+2*c] = shuffle(0x88, even0, even1), shuffle(0xdd, even0, even1)
		rows[h+c], rows[h+3*c] = shuffle(0x88, odd0, odd1), shuffle(0xdd, odd0, odd1)
	}
	return rows
}
