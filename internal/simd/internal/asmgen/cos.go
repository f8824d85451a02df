package main

import (
	"math"
	"math/big"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// cosine holds the constants for cos(x).
type cosine struct {
	limit, size Mem // largest |x|, and a mask for the bits of |x|
	perPi, half Mem
	whole       Mem // adding this constant rounds a number to an integer
	pi          []Mem
	taylor      []Mem // Taylor coefficients of (sin(r) / r - 1) / r^2 in r^2
	sign        int   // position of the sign bit
}

// pi, to more than 160 bits
const pi = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899"

// cosineOf writes the constants for cos(x). The Taylor polynomial of sin(r), |r| <= pi/2, has an
// error of at most 2e-18 in float64 and 7e-10 in float32. Pi is split into three rounded parts, whose
// multiples are subtracted from x one after the other. With fused multiply-adds the first
// difference is exact, and the other two have negligible errors for |x| up to the limit.
func cosineOf(p precision) cosine {
	terms, limit := 10, 0x1p40
	if p.size == 4 {
		terms, limit = 6, 0x1p16
	}
	c := cosine{sign: 8*p.size - 1}
	c.limit = p.constant("cosLimit", limit)
	c.size = p.word("cosSize", 1<<c.sign-1)
	c.perPi, c.half = p.constant("cosPerPi", 1/math.Pi), p.constant("cosHalf", 0.5)
	c.whole = p.constant("cosWhole", 3*math.Ldexp(1, p.digits-1))
	left, _, err := big.ParseFloat(pi, 10, 300, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"cosPiHigh", "cosPiMiddle", "cosPiLow"} {
		part, _ := left.Float64()
		if p.size == 4 {
			single, _ := left.Float32()
			part = float64(single)
		}
		c.pi = append(c.pi, p.constant(name, part))
		left.Sub(left, big.NewFloat(part))
	}
	c.taylor = p.series("cosTaylor", terms-1, func(k int) float64 {
		if k%2 == 0 {
			return -1 / factorial(2*k+3)
		}
		return 1 / factorial(2*k+3)
	})
	return c
}

// cos writes the cosine function. It computes the sine of the distance between x and the nearest
// zero of the cosine, and is thus accurate near the zeros. It stops before entries beyond the
// limit.
func (u unit) cos(c cosine) {
	l := u.function("cos", "(n int, dst, x []%s) (done int)",
		"sets the first n entries of dst to cos(x) and returns n. It ends early, before a vector that holds a number beyond the limit, and then returns the number of entries set")
	dst, x := slice("dst"), slice("x")
	l.start()
	v, r, n := u.register(), u.register(), u.register()
	u.load(l.at(x), v)
	u.load(c.size, r)
	u.and(v, r, r)
	beyond := u.exceeds(c.limit, r)
	TESTL(beyond, beyond)
	JNZ(LabelRef("done"))
	u.load(c.half, n)
	u.fma(c.perPi, v, n)
	u.add(c.whole, n, n)
	sign := u.register()
	u.shiftLeft(U8(c.sign), n, sign)
	u.sub(c.whole, n, n)
	u.sub(c.half, n, n)
	for _, part := range c.pi {
		u.fnma(part, n, v)
	}
	square, series := u.register(), u.register()
	u.mul(v, v, square)
	u.polynomial(c.taylor, square, series)
	u.mul(v, square, square)
	u.fma(square, series, v)
	u.xor(sign, v, v)
	u.store(v, l.at(dst))
	l.next()
	Store(l.i, ReturnIndex(0))
	writeReturn()
}

// exceeds returns a bit mask of the entries of v that are above the limit or NaN.
func (u unit) exceeds(limit Mem, v VecVirtual) GPVirtual {
	const notLessOrEqual = 6 // predicate that is true for a NaN
	bits := GP32()
	if u.width == 64 {
		mask := K()
		u.compare(U8(notLessOrEqual), limit, v, mask)
		KMOVW(mask, bits)
		return bits
	}
	mask := YMM()
	u.compare(U8(notLessOrEqual), limit, v, mask)
	u.signs(mask, bits)
	return bits
}
