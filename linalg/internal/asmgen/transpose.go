package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transpose writes transposes of squares of eight rows and columns.
func (u unit) transpose() {
	t := u.transposes("transpose", "sets n squares of 8 x 8 values to the transposes of others")
	Label("turn")
	u.transposeSquares(t, u.store)
	t.finish()
}

// transposeAway writes the same past the caches, which takes whole lines: those
// of other memory are left to the caches.
func (u unit) transposeAway() {
	t := u.transposes("transposeAway", "is transpose past the caches, if the rows of to begin with lines")
	aligned := GP64()
	MOVQ(t.to, aligned)
	ORQ(t.toDistance, aligned)
	ORQ(t.toStep, aligned)
	TESTQ(operand.U32(line-1), aligned)
	JNZ(operand.LabelRef("turn"))
	Label("away")
	u.transposeSquares(t, past)
	DECQ(t.left)
	JNZ(operand.LabelRef("away"))
	SFENCE()
	VZEROUPPER()
	RET()
	Label("turn")
	u.transposeSquares(t, u.store)
	t.finish()
}

// transposes is a loop over squares.
type transposes struct {
	rowLoop
	to, toDistance, toStep, from, fromDistance, fromStep reg.Register
}

func (u unit) transposes(name, what string) transposes {
	r := u.overRows(name, "to []float64, toDistance, toStep int, from []float64, fromDistance, fromStep int", what+"; rows of a square lie a distance apart, squares a step")
	return transposes{r, slice("to"), bytes("toDistance"), bytes("toStep"), slice("from"), bytes("fromDistance"), bytes("fromStep")}
}

// transposeSquares writes one of them, by squares of as many rows as a register
// has lanes.
func (u unit) transposeSquares(t transposes, store move) {
	lanes := u.width / u.size
	for i := 0; i < abreast; i += lanes {
		for j := 0; j < abreast; j += lanes {
			u.transposeSquare(store, walk(t.to, t.toDistance, j), t.toDistance, i*u.size, walk(t.from, t.fromDistance, i), t.fromDistance, j*u.size)
		}
	}
	ADDQ(t.toStep, t.to)
	ADDQ(t.fromStep, t.from)
}

// bytes returns a parameter that counts values, in bytes.
func bytes(name string) reg.Register {
	n := Load(Param(name), GP64())
	SHLQ(operand.Imm(3), n)
	return n
}

// walk returns the address of a row.
func walk(from, distance reg.Register, row int) reg.Register {
	at := GP64()
	MOVQ(from, at)
	for range row {
		ADDQ(distance, at)
	}
	return at
}

// transposeSquare does as many rows and columns as a register has lanes: pairs
// of neighbours first, and then pairs of pairs.
func (u unit) transposeSquare(store move, to, toDistance reg.Register, toAt int, from, fromDistance reg.Register, fromAt int) {
	v := make([]reg.VecVirtual, u.width/u.size)
	for i := range v {
		v[i] = u.register()
		u.load(operand.Mem{Base: from, Disp: fromAt}, v[i])
		ADDQ(fromDistance, from)
	}
	for i := 0; i < len(v); i += 2 {
		low, high := u.register(), u.register()
		VUNPCKLPD(v[i+1], v[i], low)
		VUNPCKHPD(v[i+1], v[i], high)
		v[i], v[i+1] = low, high
	}
	for _, row := range u.pairsToRows(v) {
		store(row, operand.Mem{Base: to, Disp: toAt})
		ADDQ(toDistance, to)
	}
}

// pairsToRows finishes a transpose: entry 2i + h of v holds, in its pairs of
// lanes, columns h, h+2, ... of rows 2i and 2i+1.
func (u unit) pairsToRows(v []reg.VecVirtual) []reg.VecVirtual {
	rows := make([]reg.VecVirtual, len(v))
	shuffle := func(how uint8, a, b reg.VecVirtual) reg.VecVirtual {
		r := u.register()
		if u.width == 32 {
			VPERM2F128(operand.U8(how), b, a, r)
		} else {
			VSHUFF64X2(operand.U8(how), b, a, r)
		}
		return r
	}
	for h := range 2 {
		if u.width == 32 {
			rows[h], rows[h+2] = shuffle(0x20, v[h], v[h+2]), shuffle(0x31, v[h], v[h+2])
			continue
		}
		a, b := shuffle(0x88, v[h], v[h+2]), shuffle(0x88, v[h+4], v[h+6])
		c, d := shuffle(0xdd, v[h], v[h+2]), shuffle(0xdd, v[h+4], v[h+6])
		rows[h], rows[h+4] = shuffle(0x88, a, b), shuffle(0xdd, a, b)
		rows[h+2], rows[h+6] = shuffle(0x88, c, d), shuffle(0xdd, c, d)
	}
	return rows
}
