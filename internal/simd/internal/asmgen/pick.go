package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// picked is the number of values picked per turn: a line.
const picked = 8

// pickValues writes the choice of single values, none of them behind the last.
// Each turn asks for another line of what comes next. Past the caches, if away,
// go values that begin with a line.
func (u unit) pickValues(name string, away bool) {
	begin(name+u.suffix, "func(n int, to, from []float64, places []uint32, ahead []float64)",
		fmt.Sprintf("%s%s is %s; n is a positive multiple of %d.", name, u.suffix, name, picked))
	p := picking{left: integer("n"), to: slice("to"), from: slice("from"), places: slice("places"), ahead: slice("ahead"), last: u.half()}
	end, low := GP64(), XMM()
	Load(Param("from").Len(), end)
	DECQ(end)
	VMOVQ(end, low)
	VPBROADCASTD(low, p.last)
	if away {
		TESTQ(U32(line-1), p.to)
		JNZ(LabelRef("turn"))
		u.pick(p, "away", past)
		SFENCE()
		leave()
	}
	u.pick(p, "turn", u.store)
	leave()
}

// picking holds the registers of a loop that picks values.
type picking struct {
	left, to, from, places, ahead Register
	last                          VecVirtual // the last place, everywhere
}

// half returns a register for places of the values of one of u's.
func (u unit) half() VecVirtual {
	if u.width == 64 {
		return YMM()
	}
	return XMM()
}

// pick writes the loop.
func (u unit) pick(p picking, label string, store instruction) {
	Label(label)
	PREFETCHT0(Mem{Base: p.ahead})
	for i := 0; i < picked*u.size; i += u.width {
		at, v := u.half(), u.register()
		VPMINUD(Mem{Base: p.places, Disp: i / 2}, p.last, at)
		u.gatherAt(Mem{Base: p.from, Index: at, Scale: 8}, v)
		store(v, Mem{Base: p.to, Disp: i})
	}
	ADDQ(U32(4*picked), p.places)
	ADDQ(U32(8*picked), p.to)
	ADDQ(U32(8*picked), p.ahead)
	SUBQ(U32(picked), p.left)
	JNZ(LabelRef(label))
}

// gatherAt loads the values at the places of the address's index.
func (u unit) gatherAt(from Mem, v VecVirtual) {
	if u.width == 64 {
		all := K()
		KXNORW(all, all, all)
		VGATHERDPD(from, all, v)
		return
	}
	all := u.register()
	VPCMPEQQ(all, all, all)
	VGATHERDPD(all, from, v)
}
