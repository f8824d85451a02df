package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// butterflies writes a function for several levels of a Walsh-Hadamard transform in one pass. The
// vector has parts = 2^levels parts of q values, which are a distance apart.
func (u unit) butterflies(name string, levels int) {
	parts := 1 << levels
	begin(name+u.suffix, fmt.Sprintf("func(q int, dst []%[1]s, dstDistance int, src []%[1]s, srcDistance int)", u.value),
		fmt.Sprintf("%s%s computes %d levels of a Walsh-Hadamard transform of %d q values. Parts of q values begin a distance apart. The number q is a positive multiple of %d.", name, u.suffix, levels, parts, u.width/u.size))
	left := integer("q")
	dst, dstDistance := slice("dst"), integer("dstDistance")
	src, srcDistance := slice("src"), integer("srcDistance")
	u.inBytes(dstDistance)
	u.inBytes(srcDistance)
	Label("turn")
	v, at := make([]VecVirtual, parts), GP64()
	MOVQ(src, at)
	for i := range v {
		v[i] = u.register()
		u.load(Mem{Base: at}, v[i])
		ADDQ(srcDistance, at)
	}
	u.across(v)
	MOVQ(dst, at)
	for i := range v {
		u.store(v[i], Mem{Base: at})
		ADDQ(dstDistance, at)
	}
	ADDQ(U32(u.width), src)
	ADDQ(U32(u.width), dst)
	SUBQ(U32(u.width/u.size), left)
	JG(LabelRef("turn"))
	writeReturn()
}

// across writes the levels that combine values of different registers.
func (u unit) across(v []VecVirtual) {
	for half := len(v) / 2; half > 0; half /= 2 {
		for i := range v {
			if i&half == 0 {
				sum := u.register()
				u.add(v[i+half], v[i], sum)
				u.sub(v[i+half], v[i], v[i+half])
				v[i] = sum
			}
		}
	}
}

// lowest writes the function for the lowest levels of a transform. They combine values across eight
// registers, and then values in each register with their neighbours.
func (u unit) lowest(signs []Mem) {
	block := 8 * u.width / u.size
	begin("lowest"+u.suffix, fmt.Sprintf("func(n int, x []%[1]s, scale %[1]s)", u.value),
		fmt.Sprintf("lowest%s computes a complete Walsh-Hadamard transform of each block of %d values, times scale. The number n is a positive multiple of %[2]d.", u.suffix, block))
	left, x, scale := integer("n"), slice("x"), u.number("scale")
	Label("turn")
	v := make([]VecVirtual, 8)
	for i := range v {
		v[i] = u.register()
		u.load(Mem{Base: x, Disp: i * u.width}, v[i])
	}
	u.across(v)
	for i := range v {
		for level, swap := range u.swaps {
			neighbour := u.register()
			swap(v[i], neighbour)
			u.signed(signs[len(signs)-len(u.swaps)+level], neighbour, v[i])
		}
		u.mul(scale, v[i], v[i])
		u.store(v[i], Mem{Base: x, Disp: i * u.width})
	}
	ADDQ(U32(8*u.width), x)
	SUBQ(U32(block), left)
	JG(LabelRef("turn"))
	writeReturn()
}

// swapSigns writes patterns of signs for neighbours at the distances 8, 4, 2 and 1. The upper of
// two neighbours has -1 and the lower has 1.
func swapSigns(p precision) []Mem {
	var all []Mem
	for distance := 8; distance > 0; distance /= 2 {
		all = append(all, p.pattern(fmt.Sprint("swapSigns", distance), func(lane int) float64 {
			if lane&distance != 0 {
				return -1
			}
			return 1
		}))
	}
	return all
}

// flip writes the function that changes signs.
func (u unit) flip(sign Mem) {
	l := u.function("flip", "(n int, x []%s, signs []int8)", "flips the sign of each of the first n entries of x whose entry in signs is below 0")
	x, signs := slice("x"), slice("signs")
	l.start()
	s := u.register()
	u.widen(Mem{Base: signs, Index: l.i, Scale: 1}, s)
	u.and(sign, s, s)
	u.xor(l.at(x), s, s)
	u.store(s, l.at(x))
	l.next()
	writeReturn()
}
