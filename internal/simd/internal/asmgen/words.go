package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// writeWords writes the functions that add and subtract integers.
func writeWords() {
	for _, u := range units() {
		if u.size == 8 {
			u.words("addWords", "adds the first n words of src to dst", u.addInt)
			u.words("subtractWords", "subtracts the first n words of src from dst", u.subInt)
		}
	}
}

// wordVectors is the number of vectors that one turn adds, so that the loop counter costs little.
const wordVectors = 4

func (u unit) words(name, what string, combine instruction) {
	block := wordVectors * u.width / u.size
	begin(name+u.suffix[2:], "func(n int, dst []uint64, src []byte)",
		fmt.Sprintf("%s%s %s. The number n is a multiple of %d.", name, u.suffix[2:], what, block))
	left, dst, src := integer("n"), slice("dst"), slice("src")
	Label("turn")
	SUBQ(U32(block), left)
	JL(LabelRef("done"))
	for i := range wordVectors {
		at, r := Mem{Base: dst, Disp: i * u.width}, u.register()
		u.load(at, r)
		combine(Mem{Base: src, Disp: i * u.width}, r, r)
		u.store(r, at)
	}
	ADDQ(U32(wordVectors*u.width), dst)
	ADDQ(U32(wordVectors*u.width), src)
	JMP(LabelRef("turn"))
	Label("done")
	writeReturn()
}
