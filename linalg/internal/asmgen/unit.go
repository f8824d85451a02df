package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unit is an instruction set for one precision: its registers, its
// instructions, and the register tile that suits it.
type unit struct {
	suffix  string // of the functions' names
	value   string // Go's name of the precision
	size    int    // bytes of a value
	width   int    // bytes of a register
	rows    int    // of the register tile
	vectors int    // registers in a row of the tile

	register  func() reg.VecVirtual
	zero      func(r reg.Register)
	load      func(from, to operand.Op)
	store     func(from, to operand.Op)
	broadcast func(from, to operand.Op)
	add       func(from, with, to operand.Op)
	sub       func(from, with, to operand.Op) // with - from
	mul       func(from, with, to operand.Op)
	min, max  func(second, first, to operand.Op) // second if one is NaN
	fma       func(a, b, to operand.Op)          // to + a b
	fnma      func(a, b, to operand.Op)          // to - a b
	horner    func(next, v, to operand.Op)       // to v + next
	round     func(r reg.VecVirtual)             // to whole numbers
	scale     func(c exponential, n, e reg.VecVirtual)
}

// units lists the four kernels. The tile is as large as the registers allow,
// and wider than tall: a row of b is loaded, an entry of a is broadcast.
func units() []unit {
	wide := unit{width: 64, rows: 8, vectors: 3, register: ZMM}
	wide.zero = func(r reg.Register) { VPXORQ(r, r, r) }
	narrow := unit{width: 32, rows: 4, vectors: 3, register: YMM}
	narrow.zero = func(r reg.Register) { VPXOR(r, r, r) }
	units := []unit{wide.double("AVX512"), wide.single("AVX512"), narrow.double("AVX2"), narrow.single("AVX2")}
	units[0].round = func(r reg.VecVirtual) { VRNDSCALEPD(operand.U8(8), r, r) }
	units[0].scale = func(_ exponential, n, e reg.VecVirtual) { VSCALEFPD(n, e, e) }
	units[1].round = func(r reg.VecVirtual) { VRNDSCALEPS(operand.U8(8), r, r) }
	units[1].scale = func(_ exponential, n, e reg.VecVirtual) { VSCALEFPS(n, e, e) }
	units[2].round = func(r reg.VecVirtual) { VROUNDPD(operand.U8(8), r, r) }
	units[2].scale = scaleNarrow
	units[3].round = func(r reg.VecVirtual) { VROUNDPS(operand.U8(8), r, r) }
	units[3].scale = scaleNarrowSingle
	return units
}

func (u unit) double(set string) unit {
	u.suffix, u.value, u.size = "64"+set, "float64", 8
	u.load = func(from, to operand.Op) { VMOVUPD(from, to) }
	u.store = u.load
	u.broadcast = func(from, to operand.Op) { VBROADCASTSD(from, to) }
	u.add = func(from, with, to operand.Op) { VADDPD(from, with, to) }
	u.sub = func(from, with, to operand.Op) { VSUBPD(from, with, to) }
	u.mul = func(from, with, to operand.Op) { VMULPD(from, with, to) }
	u.min = func(second, first, to operand.Op) { VMINPD(second, first, to) }
	u.max = func(second, first, to operand.Op) { VMAXPD(second, first, to) }
	u.fma = func(a, b, to operand.Op) { VFMADD231PD(a, b, to) }
	u.fnma = func(a, b, to operand.Op) { VFNMADD231PD(a, b, to) }
	u.horner = func(next, v, to operand.Op) { VFMADD213PD(next, v, to) }
	return u
}

func (u unit) single(set string) unit {
	u.suffix, u.value, u.size = "32"+set, "float32", 4
	u.load = func(from, to operand.Op) { VMOVUPS(from, to) }
	u.store = u.load
	u.broadcast = func(from, to operand.Op) { VBROADCASTSS(from, to) }
	u.add = func(from, with, to operand.Op) { VADDPS(from, with, to) }
	u.sub = func(from, with, to operand.Op) { VSUBPS(from, with, to) }
	u.mul = func(from, with, to operand.Op) { VMULPS(from, with, to) }
	u.min = func(second, first, to operand.Op) { VMINPS(second, first, to) }
	u.max = func(second, first, to operand.Op) { VMAXPS(second, first, to) }
	u.fma = func(a, b, to operand.Op) { VFMADD231PS(a, b, to) }
	u.fnma = func(a, b, to operand.Op) { VFNMADD231PS(a, b, to) }
	u.horner = func(next, v, to operand.Op) { VFMADD213PS(next, v, to) }
	return u
}

// tile returns a register for each vector of the register tile, all zero.
func (u unit) tile() [][]reg.VecVirtual {
	sums := make([][]reg.VecVirtual, u.rows)
	for i := range sums {
		for range u.vectors {
			r := u.register()
			u.zero(r)
			sums[i] = append(sums[i], r)
		}
	}
	return sums
}
