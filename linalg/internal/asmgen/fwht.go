package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// butterflies writes the highest levels of a Walsh-Hadamard transform of parts
// times q values, parts = 2^levels, in one pass over the vector.
func (u unit) butterflies(name string, levels int) {
	parts := 1 << levels
	TEXT(name+u.suffix, NOSPLIT, fmt.Sprintf("func(q int, x []%s)", u.value))
	Doc(fmt.Sprintf("%s%s does the %d highest levels of %dq values; q is a positive multiple of %d.", name, u.suffix, levels, parts, u.width/u.size))
	Pragma("noescape")
	left, at := Load(Param("q"), GP64()), Load(Param("x").Base(), GP64())
	distance := GP64()
	MOVQ(left, distance)
	SHLQ(operand.Imm(uint64(shift(u.size))), distance)
	Label("turn")
	v, to := make([]reg.VecVirtual, parts), GP64()
	MOVQ(at, to)
	for i := range v {
		v[i] = u.register()
		u.load(operand.Mem{Base: to}, v[i])
		ADDQ(distance, to)
	}
	for half := parts / 2; half > 0; half /= 2 {
		for i := range v {
			if i&half == 0 {
				sum := u.register()
				u.add(v[i+half], v[i], sum)
				u.sub(v[i+half], v[i], v[i+half])
				v[i] = sum
			}
		}
	}
	MOVQ(at, to)
	for i := range v {
		u.store(v[i], operand.Mem{Base: to})
		ADDQ(distance, to)
	}
	ADDQ(operand.U32(u.width), at)
	SUBQ(operand.U32(u.width/u.size), left)
	JG(operand.LabelRef("turn"))
	VZEROUPPER()
	RET()
}
