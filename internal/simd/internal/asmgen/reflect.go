package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// together is the number of vectors that are reflected together.
const together = 16

// reflect writes a function that applies two Householder reflections to 16 vectors, one coordinate
// after the other. It reads the vectors twice: first to compute their inner products with both
// directions, and then to change them. The first direction begins at the second coordinate. The
// sums of even and odd coordinates are kept apart where there are registers for it.
func (u unit) reflect() {
	begin("reflect"+u.suffix, "func(x, first, second []float64, betaFirst, betaSecond, across float64)",
		"reflect"+u.suffix+" applies two Householder reflections to 16 vectors x. It subtracts betaFirst u <u, x>",
		"and then betaSecond v <v, x>. Here u = (0, first) and v = second, which is not empty; across is <u, v>.")
	c := coordinates{x: slice("x"), first: slice("first"), second: slice("second"), more: GP64()}
	Load(Param("second").Len(), c.more)
	DECQ(c.more)
	wide := together * u.size / u.width // number of registers that a coordinate fills
	var sums [2][2][]VecVirtual
	for i := range sums {
		sums[i] = [2][]VecVirtual{u.zeros(wide), u.zeros(wide)}
	}
	if u.width == 32 {
		sums[1] = sums[0]
	}
	zeroth := Mem{Base: c.x}
	u.gather(zeroth, []Mem{{Base: c.second}}, sums[1][1:])
	u.each(c, "sum", func(step int, at Mem, of []Mem) { u.gather(at, of, sums[step][:]) })
	u.factors(sums)
	u.change(zeroth, []Mem{{Base: c.second}}, sums[0][1:])
	u.each(c, "change", func(_ int, at Mem, of []Mem) { u.change(at, of, sums[0][:]) })
	writeReturn()
}

// coordinates holds the addresses of vectors and directions. The register more holds the number of
// coordinates after the first.
type coordinates struct{ x, first, second, more Register }

func (u unit) zeros(n int) []VecVirtual {
	all := make([]VecVirtual, n)
	for i := range all {
		all[i] = u.register()
		u.zero(all[i])
	}
	return all
}

// each writes a loop over all coordinates after the first, two per turn.
func (u unit) each(c coordinates, name string, step func(i int, at Mem, of []Mem)) {
	at, first, second, left := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: c.x, Disp: together * u.size}, at)
	MOVQ(c.first, first)
	LEAQ(Mem{Base: c.second, Disp: u.size}, second)
	MOVQ(c.more, left)
	one := func(i int) {
		step(i, Mem{Base: at, Disp: i * together * u.size}, []Mem{{Base: first, Disp: i * u.size}, {Base: second, Disp: i * u.size}})
	}
	SUBQ(Imm(2), left)
	JL(LabelRef(name + "rest"))
	Label(name + "turn")
	one(0)
	one(1)
	ADDQ(U32(2*together*u.size), at)
	ADDQ(U32(2*u.size), first)
	ADDQ(U32(2*u.size), second)
	SUBQ(Imm(2), left)
	JGE(LabelRef(name + "turn"))
	Label(name + "rest")
	ADDQ(Imm(2), left)
	JZ(LabelRef(name + "done"))
	one(0)
	Label(name + "done")
}

// gather adds one coordinate to the inner products of the vectors with the directions.
func (u unit) gather(at Mem, of []Mem, sums [][]VecVirtual) {
	directions := u.everywhereOf(of)
	for r := range sums[0] {
		value := u.register()
		u.load(at.Offset(r*u.width), value)
		for d, v := range directions {
			u.fma(value, v, sums[d][r])
		}
	}
}

// everywhereOf returns registers, each filled with one of the values.
func (u unit) everywhereOf(values []Mem) []VecVirtual {
	all := make([]VecVirtual, len(values))
	for i, v := range values {
		all[i] = u.register()
		u.broadcast(v, all[i])
	}
	return all
}

// factors computes from the inner products the factor by which each direction is added. The factors
// are -beta0 s0 and -beta1 (s1 - beta0 s0 across), because the second reflection works on the
// values that the first has changed.
func (u unit) factors(sums [2][2][]VecVirtual) {
	beta0, beta1, across := u.number("betaFirst"), u.number("betaSecond"), u.number("across")
	for r, s0 := range sums[0][0] {
		s1 := sums[0][1][r]
		if u.width == 64 {
			u.add(sums[1][0][r], s0, s0)
			u.add(sums[1][1][r], s1, s1)
		}
		zero := u.register()
		u.zero(zero)
		u.mul(beta0, s0, s0)
		u.sub(s0, zero, s0)
		u.fma(across, s0, s1)
		u.mul(beta1, s1, s1)
		u.sub(s1, zero, s1)
	}
}

// change adds multiples of the directions to a coordinate.
func (u unit) change(at Mem, of []Mem, factors [][]VecVirtual) {
	directions := u.everywhereOf(of)
	for r := range factors[0] {
		value := u.register()
		u.load(at.Offset(r*u.width), value)
		for d, v := range directions {
			u.fma(v, factors[d][r], value)
		}
		u.store(value, at.Offset(r*u.width))
	}
}
