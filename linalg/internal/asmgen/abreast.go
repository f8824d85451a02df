package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A line is a row of eight values, as wide as a line of the cache.
const (
	abreast = 8
	line    = 8 * abreast // bytes
	places  = 1 << 12     // that a place can be
)

// rowLoop is a function's loop over n rows.
type rowLoop struct {
	unit
	left reg.Register
}

// overRows begins one whose parameter n is positive.
func (u unit) overRows(name, parameters, what string) rowLoop {
	TEXT(name+u.suffix[2:], NOSPLIT, fmt.Sprintf("func(n int, %s)", parameters))
	Doc(fmt.Sprintf("%s%s %s; n is positive.", name, u.suffix[2:], what))
	Pragma("noescape")
	return rowLoop{u, Load(Param("n"), GP64())}
}

// slice returns the address of a parameter's values.
func slice(name string) reg.Register { return Load(Param(name).Base(), GP64()) }

// finish goes on to the next row, or returns at the end.
func (r rowLoop) finish() {
	DECQ(r.left)
	JNZ(operand.LabelRef("turn"))
	VZEROUPPER()
	RET()
}

// eachRegister writes what is done with each register of n consecutive values.
func (u unit) eachRegister(n int, do func(at int, v reg.VecVirtual)) {
	for at := 0; at < n*u.size; at += u.width {
		do(at, u.register())
	}
}

// place loads the number of a row and makes it the row's distance in bytes.
func place(from reg.Register) reg.Register {
	at := GP64()
	MOVWQZX(operand.Mem{Base: from}, at)
	ANDQ(operand.U32(places-1), at)
	return at
}

// pickRows writes the choice of rows.
func (u unit) pickRows() {
	r := u.overRows("pickRows", "to, from []float64, places []uint16, ahead []float64", "sets n rows of 8 values to the rows of from at the places")
	c := rowChoice{slice("to"), slice("from"), slice("places"), slice("ahead")}
	Label("turn")
	u.pickRow(c, u.store)
	r.finish()
}

// pickRowsAway writes the same past the caches, which takes whole lines: those
// of other memory are left to the caches.
func (u unit) pickRowsAway() {
	r := u.overRows("pickRowsAway", "to, from []float64, places []uint16, ahead []float64", "is pickRows past the caches, if to begins with a line")
	c := rowChoice{slice("to"), slice("from"), slice("places"), slice("ahead")}
	TESTQ(operand.U32(line-1), c.to)
	JNZ(operand.LabelRef("turn"))
	Label("away")
	u.pickRow(c, func(from, to operand.Op) { VMOVNTPD(from, to) })
	DECQ(r.left)
	JNZ(operand.LabelRef("away"))
	SFENCE()
	VZEROUPPER()
	RET()
	Label("turn")
	u.pickRow(c, u.store)
	r.finish()
}

// rowChoice is what the choice of rows goes along.
type rowChoice struct{ to, from, places, ahead reg.Register }

// pickRow writes the choice of one row, and asks for another line of what comes
// next.
func (u unit) pickRow(c rowChoice, store func(from, to operand.Op)) {
	at := place(c.places)
	SHLQ(operand.Imm(6), at)
	PREFETCHT0(operand.Mem{Base: c.ahead})
	u.eachRegister(abreast, func(i int, v reg.VecVirtual) {
		u.load(operand.Mem{Base: c.from, Index: at, Scale: 1, Disp: i}, v)
		store(v, operand.Mem{Base: c.to, Disp: i})
	})
	ADDQ(operand.Imm(2), c.places)
	ADDQ(operand.Imm(line), c.to)
	ADDQ(operand.Imm(line), c.ahead)
}

// placeRows writes the way back, with signs.
func (u unit) placeRows(sign operand.Mem) {
	r := u.overRows("placeRows", "to, from []float64, places []uint16, signs []int8, scale float64",
		"sets the rows of to at the places to scale times the n rows of from, or -scale where the place's sign is below 0")
	to, from, places, signs := slice("to"), slice("from"), slice("places"), slice("signs")
	scale, mask := u.number("scale"), u.register()
	u.load(sign, mask)
	Label("turn")
	at := place(places)
	s := u.signOf(operand.Mem{Base: signs, Index: at, Scale: 1}, mask)
	SHLQ(operand.Imm(6), at)
	u.eachRegister(abreast, func(i int, v reg.VecVirtual) {
		u.xor(operand.Mem{Base: from, Disp: i}, s, v)
		u.mul(scale, v, v)
		u.store(v, operand.Mem{Base: to, Index: at, Scale: 1, Disp: i})
	})
	ADDQ(operand.Imm(2), places)
	ADDQ(operand.Imm(line), from)
	r.finish()
}

// signOf returns a register full of the sign bit of a byte.
func (u unit) signOf(from operand.Mem, mask reg.VecVirtual) reg.VecVirtual {
	bits, low, s := GP64(), XMM(), u.register()
	MOVBQSX(from, bits)
	VMOVQ(bits, low)
	VPBROADCASTQ(low, s)
	u.and(mask, s, s)
	return s
}

// turnRows writes changes of sign of whole rows.
func (u unit) turnRows(sign operand.Mem) {
	r := u.overRows("turnRows", "x []float64, signs []int8, scale float64", "multiplies n rows of 8 values by scale, or by -scale where the row's sign is below 0")
	x, signs := slice("x"), slice("signs")
	scale, mask := u.number("scale"), u.register()
	u.load(sign, mask)
	Label("turn")
	s := u.signOf(operand.Mem{Base: signs}, mask)
	u.eachRegister(abreast, func(i int, v reg.VecVirtual) {
		u.xor(operand.Mem{Base: x, Disp: i}, s, v)
		u.mul(scale, v, v)
		u.store(v, operand.Mem{Base: x, Disp: i})
	})
	ADDQ(operand.Imm(1), signs)
	ADDQ(operand.Imm(line), x)
	r.finish()
}

// strip is how many values lie together in a strip: eight rows.
const strip = 8 * abreast

// copyStrips writes copies of strips, which asks for those that a next call
// will copy.
func (u unit) copyStrips() {
	r := u.overRows("copyStrips", "to []float64, toDistance int, from []float64, fromDistance int",
		"copies n strips of 64 values whose beginnings lie apart")
	to, toDistance, from, fromDistance := slice("to"), Load(Param("toDistance"), GP64()), slice("from"), Load(Param("fromDistance"), GP64())
	SHLQ(operand.Imm(3), toDistance)
	SHLQ(operand.Imm(3), fromDistance)
	Label("turn")
	for at := 0; at < strip*u.size; at += line {
		PREFETCHT1(operand.Mem{Base: from, Disp: strip*u.size + at})
	}
	u.eachRegister(strip, func(i int, v reg.VecVirtual) {
		u.load(operand.Mem{Base: from, Disp: i}, v)
		u.store(v, operand.Mem{Base: to, Disp: i})
	})
	ADDQ(toDistance, to)
	ADDQ(fromDistance, from)
	r.finish()
}

// neighbours writes the lowest three levels of a transform of columns.
func (u unit) neighbours() {
	r := u.overRows("neighbours", "x []float64", "does three levels of the columns of each of n times 8 rows of 8 values")
	x := slice("x")
	Label("turn")
	for at := 0; at < line; at += u.width {
		v := make([]reg.VecVirtual, 8)
		for i := range v {
			v[i] = u.register()
			u.load(operand.Mem{Base: x, Disp: at + line*i}, v[i])
		}
		u.across(v)
		for i := range v {
			u.store(v[i], operand.Mem{Base: x, Disp: at + line*i})
		}
	}
	ADDQ(operand.U32(8*line), x)
	r.finish()
}
