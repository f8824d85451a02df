package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// together is how many vectors are reflected together.
const together = 16

// reflect writes two Householder reflections of that many vectors, coordinate after
// coordinate. It reads them twice: for their products with both directions, and
// to change them. The sums of even and odd coordinates are kept apart where
// there are registers for it.
func (u unit) reflect() {
	TEXT("reflect"+u.suffix, NOSPLIT, "func(k int, x, v []float64, beta0, beta1, across float64)")
	Doc("reflect"+u.suffix+" subtracts from 16 vectors x beta0 v0 <v0, x>, and then beta1 v1 <v1, x>;",
		"across is <v0, v1>, v holds the k coordinates of v0 and v1 in turn.")
	Pragma("noescape")
	x, v, k := Load(Param("x").Base(), GP64()), Load(Param("v").Base(), GP64()), Load(Param("k"), GP64())
	wide := together * u.size / u.width // registers for a coordinate
	var sums [2][2][]reg.VecVirtual
	for i := range sums {
		sums[i] = [2][]reg.VecVirtual{u.zeros(wide), u.zeros(wide)}
	}
	if u.width == 32 {
		sums[1] = sums[0]
	}
	u.pairs("sum", x, v, k, func(step int, at, v0, v1 operand.Mem) {
		u.gather(at, v0, v1, wide, sums[step])
	})
	u.factors(sums)
	u.pairs("change", x, v, k, func(_ int, at, v0, v1 operand.Mem) {
		u.change(at, v0, v1, sums[0])
	})
	VZEROUPPER()
	RET()
}

func (u unit) zeros(n int) []reg.VecVirtual {
	all := make([]reg.VecVirtual, n)
	for i := range all {
		all[i] = u.register()
		u.zero(all[i])
	}
	return all
}

// pairs writes a loop over the coordinates, two per turn.
func (u unit) pairs(name string, x, v, k reg.Register, step func(i int, at, v0, v1 operand.Mem)) {
	at, of, left := GP64(), GP64(), GP64()
	MOVQ(x, at)
	MOVQ(v, of)
	MOVQ(k, left)
	one := func(i int) {
		pair := operand.Mem{Base: of, Disp: 2 * i * u.size}
		step(i, operand.Mem{Base: at, Disp: i * together * u.size}, pair, pair.Offset(u.size))
	}
	SUBQ(operand.Imm(2), left)
	JL(operand.LabelRef(name + "rest"))
	Label(name + "turn")
	one(0)
	one(1)
	ADDQ(operand.U32(2*together*u.size), at)
	ADDQ(operand.U32(4*u.size), of)
	SUBQ(operand.Imm(2), left)
	JGE(operand.LabelRef(name + "turn"))
	Label(name + "rest")
	ADDQ(operand.Imm(2), left)
	JZ(operand.LabelRef(name + "done"))
	one(0)
	Label(name + "done")
}

// gather adds a coordinate's products with the two directions.
func (u unit) gather(at, v0, v1 operand.Mem, wide int, sums [2][]reg.VecVirtual) {
	first, second := u.register(), u.register()
	u.broadcast(v0, first)
	u.broadcast(v1, second)
	for r := range wide {
		value := u.register()
		u.load(at.Offset(r*u.width), value)
		u.fma(value, first, sums[0][r])
		u.fma(value, second, sums[1][r])
	}
}

// factors turns the sums into what the directions are to be multiplied by:
// -beta0 s0, and -beta1 (s1 - beta0 s0 across), because the second reflection
// sees what the first has changed.
func (u unit) factors(sums [2][2][]reg.VecVirtual) {
	beta0, beta1, across := u.number("beta0"), u.number("beta1"), u.number("across")
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
func (u unit) change(at, v0, v1 operand.Mem, factors [2][]reg.VecVirtual) {
	first, second := u.register(), u.register()
	u.broadcast(v0, first)
	u.broadcast(v1, second)
	for r := range factors[0] {
		value := u.register()
		u.load(at.Offset(r*u.width), value)
		u.fma(first, factors[0][r], value)
		u.fma(second, factors[1][r], value)
		u.store(value, at.Offset(r*u.width))
	}
}
