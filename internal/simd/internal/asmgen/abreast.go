package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A line is a row of eight values, as wide as a line of the cache.
const (
	abreast = 8
	line    = 8 * abreast // bytes
)

// rowLoop is a function's loop over n rows.
type rowLoop struct {
	unit
	left Register
}

// overRows begins one whose parameter n is positive.
func (u unit) overRows(name, parameters, what string) rowLoop {
	begin(name+u.suffix[2:], fmt.Sprintf("func(n int, %s)", parameters),
		fmt.Sprintf("%s%s %s; n is positive.", name, u.suffix[2:], what))
	return rowLoop{u, integer("n")}
}

// past moves a line from a register past the caches.
func past(of ...Op) { VMOVNTPD(of[0], of[1]) }

// finish goes on to the next row, or returns at the end.
func (r rowLoop) finish() {
	DECQ(r.left)
	JNZ(LabelRef("turn"))
	leave()
}

// eachRegister writes the work with each register of n consecutive values.
func (u unit) eachRegister(n int, do func(at int, v VecVirtual)) {
	for at := 0; at < n*u.size; at += u.width {
		do(at, u.register())
	}
}

// signOf returns a register full of the sign bit of a byte.
func (u unit) signOf(from Mem, mask VecVirtual) VecVirtual {
	bits, low, s := GP64(), XMM(), u.register()
	MOVBQSX(from, bits)
	VMOVQ(bits, low)
	VPBROADCASTQ(low, s)
	u.and(mask, s, s)
	return s
}

// turnRows writes changes of sign of whole rows.
func (u unit) turnRows(sign Mem) {
	r := u.overRows("turnRows", "x []float64, signs []int8, scale float64", "multiplies n rows of 8 values by scale, or by -scale where the row's sign is below 0")
	x, signs := slice("x"), slice("signs")
	scale, mask := u.number("scale"), u.register()
	u.load(sign, mask)
	Label("turn")
	s := u.signOf(Mem{Base: signs}, mask)
	u.eachRegister(abreast, func(i int, v VecVirtual) {
		u.xor(Mem{Base: x, Disp: i}, s, v)
		u.mul(scale, v, v)
		u.store(v, Mem{Base: x, Disp: i})
	})
	ADDQ(Imm(1), signs)
	ADDQ(Imm(line), x)
	r.finish()
}

// strip is the number of values that lie together in a strip: four rows.
const strip = 4 * abreast

// copyStrips writes copies of strips.
func (u unit) copyStrips() {
	r := u.overRows("copyStrips", "to []float64, toDistance int, from []float64, fromDistance int", "copies n strips of 32 values whose beginnings lie apart")
	to, toDistance, from, fromDistance := slice("to"), u.bytes("toDistance"), slice("from"), u.bytes("fromDistance")
	Label("turn")
	u.eachRegister(strip, func(i int, v VecVirtual) {
		u.load(Mem{Base: from, Disp: i}, v)
		u.store(v, Mem{Base: to, Disp: i})
	})
	ADDQ(toDistance, to)
	ADDQ(fromDistance, from)
	r.finish()
}

// askStrips writes requests for strips, to the second-level cache.
func (u unit) askStrips() {
	r := u.overRows("askStrips", "x []float64, distance int", "asks the caches for n strips of 32 values whose beginnings lie apart")
	x, distance := slice("x"), u.bytes("distance")
	Label("turn")
	for at := 0; at < strip*u.size; at += line {
		PREFETCHT1(Mem{Base: x, Disp: at})
	}
	ADDQ(distance, x)
	r.finish()
}

// soon is the distance in bytes at which a loop over memory prefetches: the
// first-level cache away.
const soon = 32 << 10

// neighbours writes the lowest three levels of a transform of columns, which
// asks for lines that a next call may take.
func (u unit) neighbours() {
	r := u.overRows("neighbours", "x []float64", "does three levels of the columns of each of n times 8 rows of 8 values")
	x := slice("x")
	Label("turn")
	for at := 0; at < line; at += u.width {
		v := make([]VecVirtual, 8)
		for i := range v {
			v[i] = u.register()
			u.load(Mem{Base: x, Disp: at + line*i}, v[i])
			if at == 0 {
				PREFETCHT1(Mem{Base: x, Disp: soon + line*i})
			}
		}
		u.across(v)
		for i := range v {
			u.store(v[i], Mem{Base: x, Disp: at + line*i})
		}
	}
	ADDQ(U32(8*line), x)
	r.finish()
}
