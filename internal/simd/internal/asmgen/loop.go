package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// begin begins a function.
func begin(name, signature string, doc ...string) {
	TEXT(name, NOSPLIT, signature)
	Doc(doc...)
	Pragma("noescape")
}

// slice returns the address of a parameter's values.
func slice(name string) Register { return Load(Param(name).Base(), GP64()) }

// integer returns the value of a parameter.
func integer(name string) Register { return Load(Param(name), GP64()) }

// leave ends a function.
func leave() {
	VZEROUPPER()
	RET()
}

// loop is a function's loop over n entries of its slices, a register at a time.
type loop struct {
	unit
	n, i Register
}

// function begins one that has a parameter n, and the loop over its entries
// comes with start.
func (u unit) function(name, signature, what string) loop {
	begin(name+u.suffix, fmt.Sprintf("func"+signature, u.value),
		fmt.Sprintf("%s%s %s; n is a multiple of %d.", name, u.suffix, what, u.width/u.size))
	return loop{u, integer("n"), GP64()}
}

// number returns a register full of the parameter of that name.
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

// at is the current entries of a slice.
func (l loop) at(slice Register) Mem {
	return Mem{Base: slice, Index: l.i, Scale: uint8(l.size)}
}

// next goes on to the next entries, or to what follows at the end.
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
	leave()
}
