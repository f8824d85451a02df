package main

import (
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
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

	register func() VecVirtual

	load      instruction // from, to
	store     instruction // from, to
	broadcast instruction // from, to
	add       instruction // from, with, to
	sub       instruction // from, with, to: with - from
	mul       instruction // from, with, to
	div       instruction // by, with, to: with / by
	sqrt      instruction // from, to
	min, max  instruction // second, first, to: second if one is NaN
	fma       instruction // a, b, to: to + a b
	fnma      instruction // a, b, to: to - a b
	horner    instruction // next, v, to: to v + next
	signed    instruction // sign, next, to: to sign + next
	round     instruction // how, from, to: to whole numbers
	compare   instruction // how, with, v, to

	scale func(c exponential, n, e VecVirtual)
	signs func(from, to Op) // a bit for each entry, where registers compare
	widen instruction       // from, to: signed bytes to whole numbers of size bytes
	swaps []instruction     // from, to: neighbours at half the lanes, at a quarter, ..., at 1

	and, or, xor          instruction // a, b, to
	addInt                instruction // from, with, to: whole numbers of size bytes
	subInt                instruction // from, with, to: with - from
	shiftLeft, shiftRight instruction // by, from, to
}

// instruction writes an instruction; the last operand is its result.
type instruction func(...Op)

// ofThree is an instruction that takes three operands and no mask.
func ofThree(write func(a, b, to Op)) instruction {
	return func(of ...Op) { write(of[0], of[1], of[2]) }
}

// permute is an instruction with its order of the values of one register.
func permute(write instruction, how uint8) instruction {
	return func(of ...Op) { write(U8(how), of[0], of[1]) }
}

// shuffle is permute where the instruction could take values from two registers.
func shuffle(write instruction, how uint8) instruction {
	return func(of ...Op) { write(U8(how), of[0], of[0], of[1]) }
}

// units lists the four kernels. The tile is as large as the registers allow,
// and wider than tall: a row of b is loaded, an entry of a is broadcast.
func units() []unit {
	wide := unit{width: 64, rows: 8, vectors: 3, register: ZMM}
	wide.and, wide.or, wide.xor = VPANDQ, VPORQ, VPXORQ
	narrow := unit{width: 32, rows: 4, vectors: 3, register: YMM}
	narrow.and, narrow.or, narrow.xor = ofThree(VPAND), ofThree(VPOR), ofThree(VPXOR)
	wides, narrows := wide.both("AVX512"), narrow.both("AVX2")
	wides[0].inWide64()
	wides[1].inWide32()
	narrows[0].inNarrow64()
	narrows[1].inNarrow32()
	return slices.Concat(wides, narrows)
}

func (u unit) both(set string) []unit { return []unit{u.double(set), u.single(set)} }

// What the sets do each in its own way: moving values inside a register, rounding
// to whole numbers, and multiplying by 2^n.

func (u *unit) inWide64() {
	u.swaps = []instruction{shuffle(VSHUFF64X2, 0x4e), shuffle(VSHUFF64X2, 0xb1), permute(VPERMILPD, 0x55)}
	u.round = VRNDSCALEPD
	u.scale = func(_ exponential, n, e VecVirtual) { VSCALEFPD(n, e, e) }
}

func (u *unit) inWide32() {
	u.swaps = []instruction{
		shuffle(VSHUFF32X4, 0x4e), shuffle(VSHUFF32X4, 0xb1), permute(VPERMILPS, 0x4e), permute(VPERMILPS, 0xb1),
	}
	u.round = VRNDSCALEPS
	u.scale = func(_ exponential, n, e VecVirtual) { VSCALEFPS(n, e, e) }
}

func (u *unit) inNarrow64() {
	u.swaps = []instruction{swapHalves, permute(VPERMILPD, 5)}
	u.round, u.scale, u.signs = ofThree(VROUNDPD), scaleNarrow, VMOVMSKPD
}

func (u *unit) inNarrow32() {
	u.swaps = []instruction{swapHalves, permute(VPERMILPS, 0x4e), permute(VPERMILPS, 0xb1)}
	u.round, u.scale, u.signs = ofThree(VROUNDPS), scaleNarrowSingle, VMOVMSKPS
}

// swapHalves sets to to from with its halves swapped.
func swapHalves(of ...Op) { VPERM2F128(U8(1), of[0], of[0], of[1]) }

func (u unit) double(set string) unit {
	u.suffix, u.value, u.size = "64"+set, "float64", 8
	u.load, u.store, u.broadcast = VMOVUPD, VMOVUPD, VBROADCASTSD
	u.add, u.sub, u.mul, u.div = VADDPD, VSUBPD, VMULPD, VDIVPD
	u.sqrt, u.min, u.max = VSQRTPD, VMINPD, VMAXPD
	u.fma, u.fnma = VFMADD231PD, VFNMADD231PD
	u.horner, u.signed = VFMADD213PD, VFMADD132PD
	u.addInt, u.subInt = VPADDQ, VPSUBQ
	u.shiftLeft, u.shiftRight = VPSLLQ, VPSRLQ
	u.compare, u.widen = VCMPPD, VPMOVSXBQ
	return u
}

func (u unit) single(set string) unit {
	u.suffix, u.value, u.size = "32"+set, "float32", 4
	u.load, u.store, u.broadcast = VMOVUPS, VMOVUPS, VBROADCASTSS
	u.add, u.sub, u.mul, u.div = VADDPS, VSUBPS, VMULPS, VDIVPS
	u.sqrt, u.min, u.max = VSQRTPS, VMINPS, VMAXPS
	u.fma, u.fnma = VFMADD231PS, VFNMADD231PS
	u.horner, u.signed = VFMADD213PS, VFMADD132PS
	u.addInt, u.subInt = VPADDD, VPSUBD
	u.shiftLeft, u.shiftRight = VPSLLD, VPSRLD
	u.compare, u.widen = VCMPPS, VPMOVSXBD
	return u
}

// tile returns a register for each of the first vectors of the register tile's
// rows, all zero.
func (u unit) tile(vectors int) [][]VecVirtual {
	sums := make([][]VecVirtual, u.rows)
	for i := range sums {
		for range vectors {
			r := u.register()
			u.zero(r)
			sums[i] = append(sums[i], r)
		}
	}
	return sums
}

func (u unit) zero(r Register) { u.xor(r, r, r) }
