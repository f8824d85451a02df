package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// A line is a row of eight values, which has the size of a cache line.
const (
	abreast = 8
	line    = 8 * abreast // bytes
)

// rowLoop is the loop of a generated function over n rows.
type rowLoop struct {
	unit
	left Register
}

// overRows begins a function that loops over n rows, where n is positive.
func (u unit) overRows(name, parameters, what string) rowLoop {
	begin(name+u.suffix[2:], fmt.Sprintf("func(n int, %s)", parameters),
		fmt.Sprintf("%s%s %s. The number n is positive.", name, u.suffix[2:], what))
	return rowLoop{u, integer("n")}
}

// past writes an instruction that stores a register past the caches.
func past(of ...Op) { VMOVNTPD(of[0], of[1]) }

// finish writes the end of the loop: the jump to the next row, or the return.
func (r rowLoop) finish() {
	DECQ(r.left)
	JNZ(LabelRef("turn"))
	writeReturn()
}

// eachRegister calls do for each register that n consecutive values fill.
func (u unit) eachRegister(n int, do func(at int, v VecVirtual)) {
	for at := 0; at < n*u.size; at += u.width {
		do(at, u.register())
	}
}

// signOf writes code that fills a register with the sign bit of a byte.
func (u unit) signOf(src Mem, mask VecVirtual) VecVirtual {
	bits, low, s := GP64(), XMM(), u.register()
	MOVBQSX(src, bits)
	VMOVQ(bits, low)
	VPBROADCASTQ(low, s)
	u.and(mask, s, s)
	return s
}

// turnRows writes the function that changes the signs of whole rows.
func (u unit) turnRows(sign Mem) {
	r := u.overRows("turnRows", "x []float64, signs []int8, scale float64", "multiplies n rows of 8 values by scale, or by -scale if the row's sign is below 0")
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

// strip is the number of consecutive values in a strip, which has four rows.
const strip = 4 * abreast

// copyStrips writes the function that copies strips.
func (u unit) copyStrips() {
	r := u.overRows("copyStrips", "dst []float64, dstDistance int, src []float64, srcDistance int", "copies n strips of 32 values, which begin a distance apart")
	dst, dstDistance, src, srcDistance := slice("dst"), u.bytes("dstDistance"), slice("src"), u.bytes("srcDistance")
	Label("turn")
	u.eachRegister(strip, func(i int, v VecVirtual) {
		u.load(Mem{Base: src, Disp: i}, v)
		u.store(v, Mem{Base: dst, Disp: i})
	})
	ADDQ(dstDistance, dst)
	ADDQ(srcDistance, src)
	r.finish()
}

// askStrips writes the function that prefetches strips into the second-level cache.
func (u unit) askStrips() {
	r := u.overRows("askStrips", "x []float64, distance int", "prefetches n strips of 32 values, which begin a distance apart")
	x, distance := slice("x"), u.bytes("distance")
	Label("turn")
	for at := 0; at < strip*u.size; at += line {
		PREFETCHT1(Mem{Base: x, Disp: at})
	}
	ADDQ(distance, x)
	r.finish()
}

// prefetchDistance is the number of bytes by which a loop over memory prefetches ahead. It is the
// size of the first-level cache.
const prefetchDistance = 32 << 10

// neighbours writes the function for the lowest three levels of a transform of columns. It
// prefetches lines that a next call can need.
func (u unit) neighbours() {
	r := u.overRows("neighbours", "x []float64", "computes three levels of a transform of the columns of n groups of 8 rows of 8 values")
	x := slice("x")
	Label("turn")
	for at := 0; at < line; at += u.width {
		v := make([]VecVirtual, 8)
		for i := range v {
			v[i] = u.register()
			u.load(Mem{Base: x, Disp: at + line*i}, v[i])
			if at == 0 {
				PREFETCHT1(Mem{Base: x, Disp: prefetchDistance + line*i})
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
