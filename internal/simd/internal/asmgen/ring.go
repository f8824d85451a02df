package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// writeRing writes the functions that convert turns to words, and words to cosines and sines.
func writeRing() {
	numbers := roundingOf(double())
	for _, bits := range []int{8, 16, 32} {
		numbers.size = double().constant(fmt.Sprint("ringSize", bits), math.Ldexp(1, bits))
		for _, u := range units() {
			if u.size == 8 {
				u.roundTurns(numbers, bits)
			}
		}
	}
	for _, bits := range []int{8, 16, 32} {
		numbers := wavesOf(single(), bits)
		for _, u := range units() {
			if u.size == 4 {
				u.waves(numbers, bits)
			}
		}
	}
}

// rounding holds the constants for rounding turns to words.
type rounding struct {
	size, half Mem
	whole      Mem // adding this constant moves an integer to the low bits
}

func roundingOf(p precision) rounding {
	return rounding{half: p.constant("ringHalf", 0.5), whole: p.constant("ringWhole", math.Ldexp(1, p.digits))}
}

// down is the rounding mode in which round returns the next lower integer.
const down = 9

// roundTurns writes the function that computes floor(frac(t) 2^bits + 1/2) modulo 2^bits.
func (u unit) roundTurns(c rounding, bits int) {
	name := fmt.Sprintf("roundTurns%d%s", bits, u.suffix[2:])
	begin(name, "func(n int, dst []byte, turns []float64)",
		fmt.Sprintf("%s rounds the first n turns to words of %d bits. The number n is a multiple of %d.", name, bits, u.width/8))
	l := loop{u, integer("n"), GP64()}
	dst, turns := slice("dst"), slice("turns")
	l.start()
	t, whole := u.register(), u.register()
	u.load(l.at(turns), t)
	u.round(U8(down), t, whole)
	u.sub(whole, t, t)
	half := u.register()
	u.load(c.half, half)
	u.fma(c.size, t, half)
	u.round(U8(down), half, half)
	u.add(c.whole, half, half)
	u.narrowTo(bits, half, Mem{Base: dst, Index: l.i, Scale: uint8(bits / 8)})
	l.next()
	writeReturn()
}

// narrowTo stores the low bits of each 64-bit number.
func (u unit) narrowTo(bits int, v VecVirtual, to Mem) {
	if u.width == 64 {
		switch bits {
		case 8:
			VPMOVQB(v, to)
		case 16:
			VPMOVQW(v, to)
		default:
			VPMOVQD(v, to)
		}
		return
	}
	high, four := XMM(), XMM()
	VEXTRACTI128(U8(1), v, high)
	VSHUFPS(U8(0x88), high, v.AsX(), four) // the low halves
	switch bits {
	case 8:
		VPSHUFB(lowBytes("ringBytes", 1), four, four)
		VMOVD(four, to)
	case 16:
		VPSHUFB(lowBytes("ringWords", 2), four, four)
		VMOVQ(four, to)
	default:
		VMOVDQU(four, to)
	}
}

// lowBytes writes a shuffle mask that selects the low bytes of four 32-bit numbers.
func lowBytes(name string, bytes int) Mem {
	at := GLOBL(name, RODATA|NOPTR)
	for i := range 16 {
		from := 0x80 // nothing
		if i < 4*bytes {
			from = i/bytes*4 + i%bytes
		}
		DATA(i, U8(from))
	}
	return at
}

// wave holds the constants for cosines and sines of words.
type wave struct {
	quarter Mem // quarter of a turn in 32 bits
	right   Mem // quarter of a turn in words that are shifted right by unusedBits
	angle   Mem // angle of the word 1 after a shift right by unusedBits
	taylor  []Mem
}

// unusedBits is the number of low bits of a 32-bit lane that are not used. They are no part of a
// word, or are dropped so that half a turn is a positive number.
func unusedBits(bits int) int { return max(1, 32-bits) }

// wavesOf writes the constants for cosines and sines of words. The Taylor polynomial of sin(x), |x|
// <= pi/2, has an error of 6e-8.
func wavesOf(p precision, bits int) wave {
	name := func(s string) string { return fmt.Sprint("wave", s, bits) }
	return wave{
		quarter: p.word(name("Quarter"), 1<<30),
		right:   p.word(name("Right"), 1<<(30-unusedBits(bits))),
		angle:   p.constant(name("Angle"), 2*math.Pi/math.Ldexp(1, 32-unusedBits(bits))),
		taylor: p.series(name("Taylor"), 4, func(k int) float64 {
			if k%2 == 0 {
				return -1 / factorial(2*k+3)
			}
			return 1 / factorial(2*k+3)
		}),
	}
}

// waves writes the function that computes cosines and sines of words. A sine is the cosine a
// quarter of a turn before.
func (u unit) waves(c wave, bits int) {
	name := fmt.Sprintf("waves%d%s", bits, u.suffix[2:])
	begin(name, "func(n int, cosines, sines []float32, words []byte, amplitude float32)",
		fmt.Sprintf("%s computes the cosines and sines of the first n words of %d bits, times the amplitude. The number n is a multiple of %d.", name, bits, u.width/4))
	l := loop{u, integer("n"), GP64()}
	cosines, sines := slice("cosines"), slice("sines")
	words, amplitude := slice("words"), l.number("amplitude")
	l.start()
	w, back := u.register(), u.register()
	from := Mem{Base: words, Index: l.i, Scale: uint8(bits / 8)}
	switch bits {
	case 8:
		VPMOVZXBD(from, w)
	case 16:
		VPMOVZXWD(from, w)
	default:
		u.load(from, w)
	}
	if bits < 32 {
		u.shiftLeft(U8(32-bits), w, w)
	}
	u.subInt(c.quarter, w, back)
	u.store(u.cosineOf(c, bits, w, amplitude), l.at(cosines))
	u.store(u.cosineOf(c, bits, back, amplitude), l.at(sines))
	l.next()
	writeReturn()
}

// cosineOf returns the cosines of words that lie in the high bits of 32-bit lanes. The cosine of a
// word w is sin(quarter - |w|), where quarter is a quarter of a turn.
func (u unit) cosineOf(c wave, bits int, w, amplitude VecVirtual) VecVirtual {
	right, square, series := u.register(), u.register(), u.register()
	u.load(c.right, right)
	VPABSD(w, w)
	u.shiftRight(U8(unusedBits(bits)), w, w)
	u.subInt(w, right, w)
	VCVTDQ2PS(w, w)
	u.mul(c.angle, w, w)
	u.mul(w, w, square)
	u.polynomial(c.taylor, square, series)
	u.mul(w, square, square)
	u.fma(square, series, w)
	u.mul(amplitude, w, w)
	return w
}
