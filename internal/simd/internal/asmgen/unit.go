package main

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// unit is an instruction set for one precision. It has registers, instructions and the size of the
// register tile that suits it.
type unit struct {
	suffix  string // ending of the functions' names
	value   string // Go's name of the type of values
	size    int    // number of bytes of a value
	width   int    // number of bytes of a register
	rows    int    // number of rows of the register tile
	vectors int    // number of registers in a row of the tile

	register func() VecVirtual

	load      instruction // operands from, to
	store     instruction // operands from, to
	broadcast instruction // operands from, to
	add       instruction // operands from, with, to
	sub       instruction // operands from, with, to: to = with - from
	mul       instruction // operands from, with, to
	div       instruction // operands by, with, to: to = with / by
	sqrt      instruction // operands from, to
	min, max  instruction // operands second, first, to: to = second if one is NaN
	fma       instruction // operands a, b, to: to = to + a b
	fnma      instruction // operands a, b, to: to = to - a b
	horner    instruction // operands next, v, to: to = to v + next
	signed    instruction // operands sign, next, to: to = to sign + next
	round     instruction // operands how, from, to: to = from rounded to integers
	compare   instruction // operands how, with, v, to: to = result of the comparison

	scale func(c exponential, n, e VecVirtual)
	signs func(from, to Op) // operands from, to: to = sign bits of the entries, if comparisons write to vectors
	widen instruction       // operands from, to: signed bytes become integers of size bytes
	swaps []instruction     // operands from, to: exchanges of lanes at a distance of half the lanes, a quarter, ..., 1

	and, or, xor          instruction // operands a, b, to
	addInt                instruction // operands from, with, to: sum of integers of size bytes
	subInt                instruction // operands from, with, to: to = with - from
	shiftLeft, shiftRight instruction // operands by, from, to
}

// instruction writes one machine instruction. The last operand is the result.
type instruction func(...Op)

// ofThree returns an instruction that takes three operands and no mask.
func ofThree(write func(a, b, to Op)) instruction {
	return func(of ...Op) { write(of[0], of[1], of[2]) }
}

// permute returns an instruction that permutes the values of one register in the given order.
func permute(write instruction, how uint8) instruction {
	return func(of ...Op) { write(U8(how), of[0], of[1]) }
}

// shuffle is like permute for instructions that take values from two registers.
func shuffle(write instruction, how uint8) instruction {
	return func(of ...Op) { write(U8(how), of[0], of[0], of[1]) }
}

// units lists the four combinations of instruction set and precision. The tile is as large as the
// registers allow, and wider than tall: a row of b is loaded, an entry of a is broadcast.
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

// The methods below set the operations that differ between instruction sets: moving values inside a
// register, rounding to integers, and multiplying by 2^n.

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

// swapHalves copies a register to another register with its halves exchanged.
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

// tile returns zeroed registers for the first vectors of each row of the register tile.
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

// picked is the number of values that a turn picks. They fill a cache line.
const picked = 8

// pickValues writes the function that picks single values. A place beyond the end selects the last
// value. Each turn prefetches one line of ahead. If away is set and dst begins at a cache line, the
// values are written past the caches.
func (u unit) pickValues(name string, away bool) {
	begin(name+u.suffix, "func(n int, dst, src []float64, places []uint32, ahead []float64)",
		fmt.Sprintf("%s%s sets dst[i] to src[places[i]] for each i below n, like %s. The number n is a positive multiple of %d.", name, u.suffix, strings.ToUpper(name[:1])+name[1:], picked))
	p := picking{left: integer("n"), dst: slice("dst"), src: slice("src"), places: slice("places"), ahead: slice("ahead"), last: u.half()}
	end, low := GP64(), XMM()
	Load(Param("src").Len(), end)
	DECQ(end)
	VMOVQ(end, low)
	VPBROADCASTD(low, p.last)
	if away {
		TESTQ(U32(line-1), p.dst)
		JNZ(LabelRef("turn"))
		u.pick(p, "away", past)
		SFENCE()
		writeReturn()
	}
	u.pick(p, "turn", u.store)
	writeReturn()
}

// picking holds the registers of a loop that picks values.
type picking struct {
	left, dst, src, places, ahead Register
	last                          VecVirtual // last place, repeated in all lanes
}

// half returns a register half as wide as the registers of u. It holds the places of the values in
// one register of u.
func (u unit) half() VecVirtual {
	if u.width == 64 {
		return YMM()
	}
	return XMM()
}

// pick writes the loop that picks values.
func (u unit) pick(p picking, label string, store instruction) {
	Label(label)
	PREFETCHT0(Mem{Base: p.ahead})
	for i := 0; i < picked*u.size; i += u.width {
		at, v := u.half(), u.register()
		VPMINUD(Mem{Base: p.places, Disp: i / 2}, p.last, at)
		u.gatherAt(Mem{Base: p.src, Index: at, Scale: 8}, v)
		store(v, Mem{Base: p.dst, Disp: i})
	}
	ADDQ(U32(4*picked), p.places)
	ADDQ(U32(8*picked), p.dst)
	ADDQ(U32(8*picked), p.ahead)
	SUBQ(U32(picked), p.left)
	JNZ(LabelRef(label))
}

// gatherAt loads values from memory at the indices that the index register of source holds.
func (u unit) gatherAt(source Mem, v VecVirtual) {
	if u.width == 64 {
		all := K()
		KXNORW(all, all, all)
		VGATHERDPD(source, all, v)
		return
	}
	all := u.register()
	VPCMPEQQ(all, all, all)
	VGATHERDPD(all, source, v)
}

// scatter writes a function that transforms rows by some levels and writes each row to its place.
// It writes past the caches if a row fills one register and one cache line.
func (u unit) scatter(name string, levels int, sign Mem) {
	what := "writes n rows of 8 values to their places in dst"
	if levels > 0 {
		what = fmt.Sprintf("transforms %d n rows of 8 values by %d levels and writes each row to its place in dst. Parts of n rows begin a distance of rows apart", 1<<levels, levels)
	}
	s := scattering{
		rowLoop: u.overRows(name, "dst, src []float64, distance int, places []uint32, scale float64",
			what+". Rows are multiplied by scale, or by -scale if the place's highest bit is set"),
		dst: slice("dst"), src: slice("src"), places: slice("places"),
		rowStep: integer("distance"), placeStep: GP64(), last: GP64(),
		parts: 1 << levels, scale: u.number("scale"), sign: u.register(),
	}
	Load(Param("dst").Len(), s.last)
	SHRQ(Imm(3), s.last)
	DECQ(s.last)
	u.load(sign, s.sign)
	MOVQ(s.rowStep, s.placeStep)
	SHLQ(Imm(6), s.rowStep)
	SHLQ(Imm(2), s.placeStep)
	if u.width == line {
		TESTQ(U32(line-1), s.dst)
		JNZ(LabelRef("turn"))
		Label("away")
		s.rows(past)
		DECQ(s.left)
		JNZ(LabelRef("away"))
		SFENCE()
		writeReturn()
	}
	Label("turn")
	s.rows(u.store)
	s.finish()
}

// scattering is the loop of a generated function that writes rows to their places.
type scattering struct {
	rowLoop
	dst, src, places   Register
	rowStep, placeStep Register // number of bytes from one part of the rows, or of the places, to the next part
	last               Register // index of the last row of dst
	parts              int
	scale, sign        VecVirtual
}

// rows writes code that moves one row of each part to its place.
func (s scattering) rows(store instruction) {
	row, place := GP64(), GP64()
	for half := 0; half < line; half += s.width {
		v := make([]VecVirtual, s.parts)
		MOVQ(s.src, row)
		for i := range v {
			v[i] = s.register()
			s.load(Mem{Base: row, Disp: half}, v[i])
			ADDQ(s.rowStep, row)
		}
		s.across(v)
		MOVQ(s.places, place)
		for i := range v {
			at, sign := GP64(), s.register()
			MOVL(Mem{Base: place}, at.As32())
			VPBROADCASTD(Mem{Base: place}, sign)
			s.and(s.sign, sign, sign)
			s.xor(sign, v[i], v[i])
			s.mul(s.scale, v[i], v[i])
			ANDL(U32(1<<31-1), at.As32())
			CMPQ(at, s.last)
			CMOVQGT(s.last, at)
			SHLQ(Imm(6), at)
			store(v[i], Mem{Base: s.dst, Index: at, Scale: 1, Disp: half})
			ADDQ(s.placeStep, place)
		}
	}
	ADDQ(Imm(4), s.places)
	ADDQ(U32(line), s.src)
}

// begin begins a function with the given name, signature and documentation.
func begin(name, signature string, doc ...string) {
	TEXT(name, NOSPLIT, signature)
	Doc(doc...)
	Pragma("noescape")
}

// slice returns the address of the values of a slice parameter.
func slice(name string) Register { return Load(Param(name).Base(), GP64()) }

// integer returns the value of an integer parameter.
func integer(name string) Register { return Load(Param(name), GP64()) }

// writeReturn writes code that returns from a function.
func writeReturn() {
	VZEROUPPER()
	RET()
}

// loop is the loop of a generated function over n entries of its slices, a register at a time.
type loop struct {
	unit
	n, i Register
}

// function begins a function with a parameter n. The method start begins the loop over the entries.
func (u unit) function(name, signature, what string) loop {
	begin(name+u.suffix, fmt.Sprintf("func"+signature, u.value),
		fmt.Sprintf("%s%s %s. The number n is a multiple of %d.", name, u.suffix, what, u.width/u.size))
	return loop{u, integer("n"), GP64()}
}

// number returns a register filled with the value of the named parameter.
func (u unit) number(name string) VecVirtual {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	r := u.register()
	u.broadcast(b.Addr, r)
	return r
}

func (l loop) start() {
	XORQ(l.i, l.i)
	CMPQ(l.n, U8(0))
	JE(LabelRef("done"))
	Label("turn")
}

// at returns the address of a slice's current entries.
func (l loop) at(slice Register) Mem {
	return Mem{Base: slice, Index: l.i, Scale: uint8(l.size)}
}

// next writes the end of the loop: the jump to the next entries, or to the code after the loop.
func (l loop) next() {
	ADDQ(U8(l.width/l.size), l.i)
	CMPQ(l.i, l.n)
	JL(LabelRef("turn"))
	Label("done")
}

// exp writes e^x.
func (u unit) exp(c exponential) {
	l := u.function("exp", "(n int, dst, x []%s)", "sets the first n entries of dst to e^x")
	dst, x := slice("dst"), slice("x")
	l.start()
	v := u.register()
	u.load(l.at(x), v)
	u.store(u.power(c, v), l.at(dst))
	l.next()
	writeReturn()
}
