package main

import (
	"slices"

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
	load      func(from, to operand.Op)
	store     func(from, to operand.Op)
	broadcast func(from, to operand.Op)
	add       func(from, with, to operand.Op)
	sub       func(from, with, to operand.Op) // with - from
	mul       func(from, with, to operand.Op)
	div       func(by, with, to operand.Op) // with / by
	sqrt      func(from, to operand.Op)
	min, max  func(second, first, to operand.Op) // second if one is NaN
	fma       func(a, b, to operand.Op)          // to + a b
	fnma      func(a, b, to operand.Op)          // to - a b
	horner    func(next, v, to operand.Op)       // to v + next
	signed    func(sign, next, to operand.Op)    // to sign + next
	round     func(r reg.VecVirtual)             // to whole numbers
	scale     func(c exponential, n, e reg.VecVirtual)
	compare   func(how, with, v, bits operand.Op) // a bit for each entry

	widen func(from, to operand.Op)   // signed bytes to whole numbers of size bytes
	swaps []func(from, to operand.Op) // neighbours at half the lanes, at a quarter, ..., at 1

	and, or, xor          func(a, b, to operand.Op)
	addInt                func(from, with, to operand.Op) // whole numbers of size bytes
	subInt                func(from, with, to operand.Op) // with - from
	shiftLeft, shiftRight func(by, from, to operand.Op)
}

// units lists the four kernels. The tile is as large as the registers allow,
// and wider than tall: a row of b is loaded, an entry of a is broadcast.
func units() []unit {
	wide := unit{width: 64, rows: 8, vectors: 3, register: ZMM}
	wide.and = func(a, b, to operand.Op) { VPANDQ(a, b, to) }
	wide.or = func(a, b, to operand.Op) { VPORQ(a, b, to) }
	wide.xor = func(a, b, to operand.Op) { VPXORQ(a, b, to) }
	narrow := unit{width: 32, rows: 4, vectors: 3, register: YMM}
	narrow.and = func(a, b, to operand.Op) { VPAND(a, b, to) }
	narrow.or = func(a, b, to operand.Op) { VPOR(a, b, to) }
	narrow.xor = func(a, b, to operand.Op) { VPXOR(a, b, to) }
	wides, narrows := wide.both("AVX512"), narrow.both("AVX2")
	wides[0].inWide64()
	wides[1].inWide32()
	narrows[0].inNarrow64()
	narrows[1].inNarrow32()
	return slices.Concat(wides, narrows)
}

func (u unit) both(set string) []unit { return []unit{u.double(set), u.single(set)} }

// What the sets do each in its own way: moving values inside a register, rounding
// to whole numbers, multiplying by 2^n, and comparing.

func (u *unit) inWide64() {
	u.widen = func(from, to operand.Op) { VPMOVSXBQ(from, to) }
	u.swaps = []func(from, to operand.Op){
		func(from, to operand.Op) { VSHUFF64X2(operand.U8(0x4e), from, from, to) },
		func(from, to operand.Op) { VSHUFF64X2(operand.U8(0xb1), from, from, to) },
		func(from, to operand.Op) { VPERMILPD(operand.U8(0x55), from, to) },
	}
	u.round = func(r reg.VecVirtual) { VRNDSCALEPD(operand.U8(8), r, r) }
	u.scale = func(_ exponential, n, e reg.VecVirtual) { VSCALEFPD(n, e, e) }
	u.compare = func(how, with, v, bits operand.Op) {
		mask := K()
		VCMPPD(how, with, v, mask)
		KMOVW(mask, bits)
	}
}

func (u *unit) inWide32() {
	u.widen = func(from, to operand.Op) { VPMOVSXBD(from, to) }
	u.swaps = []func(from, to operand.Op){
		func(from, to operand.Op) { VSHUFF32X4(operand.U8(0x4e), from, from, to) },
		func(from, to operand.Op) { VSHUFF32X4(operand.U8(0xb1), from, from, to) },
		func(from, to operand.Op) { VPERMILPS(operand.U8(0x4e), from, to) },
		func(from, to operand.Op) { VPERMILPS(operand.U8(0xb1), from, to) },
	}
	u.round = func(r reg.VecVirtual) { VRNDSCALEPS(operand.U8(8), r, r) }
	u.scale = func(_ exponential, n, e reg.VecVirtual) { VSCALEFPS(n, e, e) }
	u.compare = func(how, with, v, bits operand.Op) {
		mask := K()
		VCMPPS(how, with, v, mask)
		KMOVW(mask, bits)
	}
}

func (u *unit) inNarrow64() {
	u.widen = func(from, to operand.Op) { VPMOVSXBQ(from, to) }
	u.swaps = []func(from, to operand.Op){
		func(from, to operand.Op) { VPERM2F128(operand.U8(1), from, from, to) },
		func(from, to operand.Op) { VPERMILPD(operand.U8(5), from, to) },
	}
	u.round = func(r reg.VecVirtual) { VROUNDPD(operand.U8(8), r, r) }
	u.scale = scaleNarrow
	u.compare = func(how, with, v, bits operand.Op) {
		mask := YMM()
		VCMPPD(how, with, v, mask)
		VMOVMSKPD(mask, bits)
	}
}

func (u *unit) inNarrow32() {
	u.widen = func(from, to operand.Op) { VPMOVSXBD(from, to) }
	u.swaps = []func(from, to operand.Op){
		func(from, to operand.Op) { VPERM2F128(operand.U8(1), from, from, to) },
		func(from, to operand.Op) { VPERMILPS(operand.U8(0x4e), from, to) },
		func(from, to operand.Op) { VPERMILPS(operand.U8(0xb1), from, to) },
	}
	u.round = func(r reg.VecVirtual) { VROUNDPS(operand.U8(8), r, r) }
	u.scale = scaleNarrowSingle
	u.compare = func(how, with, v, bits operand.Op) {
		mask := YMM()
		VCMPPS(how, with, v, mask)
		VMOVMSKPS(mask, bits)
	}
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
	u.div = func(by, with, to operand.Op) { VDIVPD(by, with, to) }
	u.sqrt = func(from, to operand.Op) { VSQRTPD(from, to) }
	u.addInt = func(from, with, to operand.Op) { VPADDQ(from, with, to) }
	u.subInt = func(from, with, to operand.Op) { VPSUBQ(from, with, to) }
	u.shiftLeft = func(by, from, to operand.Op) { VPSLLQ(by, from, to) }
	u.shiftRight = func(by, from, to operand.Op) { VPSRLQ(by, from, to) }
	u.fma = func(a, b, to operand.Op) { VFMADD231PD(a, b, to) }
	u.fnma = func(a, b, to operand.Op) { VFNMADD231PD(a, b, to) }
	u.horner = func(next, v, to operand.Op) { VFMADD213PD(next, v, to) }
	u.signed = func(sign, next, to operand.Op) { VFMADD132PD(sign, next, to) }
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
	u.div = func(by, with, to operand.Op) { VDIVPS(by, with, to) }
	u.sqrt = func(from, to operand.Op) { VSQRTPS(from, to) }
	u.addInt = func(from, with, to operand.Op) { VPADDD(from, with, to) }
	u.subInt = func(from, with, to operand.Op) { VPSUBD(from, with, to) }
	u.shiftLeft = func(by, from, to operand.Op) { VPSLLD(by, from, to) }
	u.shiftRight = func(by, from, to operand.Op) { VPSRLD(by, from, to) }
	u.fma = func(a, b, to operand.Op) { VFMADD231PS(a, b, to) }
	u.fnma = func(a, b, to operand.Op) { VFNMADD231PS(a, b, to) }
	u.horner = func(next, v, to operand.Op) { VFMADD213PS(next, v, to) }
	u.signed = func(sign, next, to operand.Op) { VFMADD132PS(sign, next, to) }
	return u
}

// tile returns a register for each of the first vectors of the register tile's
// rows, all zero.
func (u unit) tile(vectors int) [][]reg.VecVirtual {
	sums := make([][]reg.VecVirtual, u.rows)
	for i := range sums {
		for range vectors {
			r := u.register()
			u.zero(r)
			sums[i] = append(sums[i], r)
		}
	}
	return sums
}

func (u unit) zero(r reg.Register) { u.xor(r, r, r) }
