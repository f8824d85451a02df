package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// narrow writes the function that rounds float64 to float32. u is a unit of float64.
func (u unit) narrow() {
	name := "narrow" + u.suffix[2:]
	begin(name, "func(n int, dst []float32, src []float64)",
		fmt.Sprintf("%s rounds src to float32, like Narrowing. The number n is a positive multiple of 16.", name))
	n, dst, src := integer("n"), slice("dst"), slice("src")
	i := GP64()
	XORQ(i, i)
	Label("turn")
	for k := range streams {
		v, half := u.register(), u.half()
		u.load(u.entry(src, i, 8, k), v)
		if u.width == 64 {
			VCVTPD2PS(v, half)
		} else {
			VCVTPD2PSY(v, half)
		}
		VMOVUPS(half, u.entry(dst, i, 4, k))
	}
	ADDQ(U8(streams*u.width/8), i)
	CMPQ(i, n)
	JL(LabelRef("turn"))
	writeReturn()
}

// doubts writes the function that finds out whether all values of the given size are finite. u is a
// unit of float64. The difference of a value with itself is 0, or NaN if the value is not finite.
func (u unit) doubts(size int) {
	name, value := u.smoName("doubts", size)
	begin(name, fmt.Sprintf("func(n int, x []%s, sums *[16]float64)", value),
		fmt.Sprintf("%s adds x - x to sums, like SMO.Doubts, in %d lanes. The number n is a positive multiple of 16.", name, streams*u.width/8))
	n, x := integer("n"), slice("x")
	s := u.selection()
	sums := s.state("sums")
	i := GP64()
	XORQ(i, i)
	Label("turn")
	for k := range streams {
		v := u.register()
		u.loadWide(size, u.entry(x, i, size, k), v)
		u.sub(v, v, v)
		u.add(v, sums[k], sums[k])
	}
	ADDQ(U8(streams*u.width/8), i)
	CMPQ(i, n)
	JL(LabelRef("turn"))
	s.save("sums", sums)
	writeReturn()
}
