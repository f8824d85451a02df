package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// scatter writes levels of a transform of parts of n rows, which then go each to
// a place of its own: past the caches where a row is a register and a line.
func (u unit) scatter(name string, levels int, sign Mem) {
	s := scattering{
		rowLoop: u.overRows(name, "to, from []float64, distance int, places []uint32, scale float64",
			fmt.Sprintf("does %d levels of %d times n rows of 8 values, a distance of rows apart, and sets the rows of to at the places to scale times these, or -scale where the place's highest bit is set", levels, 1<<levels)),
		to: slice("to"), from: slice("from"), places: slice("places"),
		rowStep: integer("distance"), placeStep: GP64(), last: GP64(),
		parts: 1 << levels, scale: u.number("scale"), sign: u.register(),
	}
	Load(Param("to").Len(), s.last)
	SHRQ(Imm(3), s.last)
	DECQ(s.last)
	u.load(sign, s.sign)
	MOVQ(s.rowStep, s.placeStep)
	SHLQ(Imm(6), s.rowStep)
	SHLQ(Imm(2), s.placeStep)
	if u.width == line {
		TESTQ(U32(line-1), s.to)
		JNZ(LabelRef("turn"))
		Label("away")
		s.rows(past)
		DECQ(s.left)
		JNZ(LabelRef("away"))
		SFENCE()
		leave()
	}
	Label("turn")
	s.rows(u.store)
	s.finish()
}

// scattering is a loop over rows that go to their places.
type scattering struct {
	rowLoop
	to, from, places   Register
	rowStep, placeStep Register // bytes from a part to the next
	last               Register // place
	parts              int
	scale, sign        VecVirtual
}

// rows writes the way of a row of each part.
func (s scattering) rows(store instruction) {
	row, place := GP64(), GP64()
	for half := 0; half < line; half += s.width {
		v := make([]VecVirtual, s.parts)
		MOVQ(s.from, row)
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
			store(v[i], Mem{Base: s.to, Index: at, Scale: 1, Disp: half})
			ADDQ(s.placeStep, place)
		}
	}
	ADDQ(Imm(4), s.places)
	ADDQ(U32(line), s.from)
}
