package main

import (
	"math"

	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// logarithm holds the constants for log(1 + y).
type logarithm struct {
	one, two, half, hi, lo, largest Mem
	root, shift, mantissa           Mem // integers: see split
	twice, whole, bias              Mem
	series                          []Mem // coefficients of (atanh(s) / s - 1) / s^2 in s^2
	digits                          int
}

// logarithmOf writes the constants for log(1 + y). The polynomial for atanh(s) / s, |s| <= 3 -
// sqrt(8), has an error of less than 1e-17 in float64 and 3e-8 in float32.
func logarithmOf(p precision) logarithm {
	terms, hi := 9, 0x1.62e42fep-1
	one, root := math.Float64bits(1), math.Float64bits(math.Sqrt2/2)
	whole, largest := math.Float64bits(1<<52), math.MaxFloat64
	if p.size == 4 {
		terms, hi = 4, 0x1.62e4p-1
		one, root = uint64(math.Float32bits(1)), uint64(math.Float32bits(math.Sqrt2/2))
		whole, largest = uint64(math.Float32bits(1<<23)), math.MaxFloat32
	}
	c := logarithm{digits: p.digits}
	c.one, c.two, c.half = p.constant("logOne", 1), p.constant("logTwo", 2), p.constant("logHalf", 0.5)
	c.hi, c.lo = p.constant("logHi", hi), p.constant("logLo", rest(hi))
	c.largest = p.constant("logLargest", largest)
	c.root, c.shift = p.word("logRoot", root), p.word("logShift", one-root)
	c.mantissa = p.word("logMantissa", 1<<p.digits-1)
	c.twice = p.word("logTwice", uint64(2*p.bias+1))
	c.whole = p.word("logWhole", whole)
	c.bias = p.constant("logBias", math.Ldexp(1, p.digits)+float64(p.bias))
	c.series = p.series("logSeries", terms, func(k int) float64 { return 1 / float64(2*k+3) })
	return c
}

// log1p returns log(1 + y) for y >= 0. Rounding 1 + y gives 2^k m with the error c, where m is
// between sqrt(1/2) and sqrt(2). Then log(1 + y) is k log 2 + 2 atanh(s), where s = f / (2 + f) and
// f = m - 1 + 2^-k c. For a small y, f is y.
func (u unit) log1p(c logarithm, y VecVirtual) VecVirtual {
	sum, left, f := u.register(), u.register(), u.register()
	u.add(c.one, y, sum)
	u.sub(c.one, sum, left)
	u.sub(left, y, left)
	k, scale := u.split(c, sum, f)
	u.mul(scale, left, left)
	u.sub(c.one, f, f)
	u.fma(c.half, left, f)

	s, square, series, log := u.register(), u.register(), u.register(), u.register()
	u.add(c.two, f, s)
	u.div(s, f, s)
	u.mul(s, s, square)
	u.polynomial(c.series, square, series)
	u.add(s, s, s)
	u.mul(square, s, square)
	u.mul(square, series, series)
	u.fma(c.lo, k, series)
	u.add(s, series, log)
	u.fma(c.hi, k, log)
	u.sub(c.largest, y, y) // y is now at most 0 if it was finite, and otherwise Inf or NaN
	u.max(y, log, log)     // log if y was finite, and otherwise Inf or NaN
	return log
}

// split decomposes v = 2^k m. It returns k and 2^(1-k).
func (u unit) split(c logarithm, v, m VecVirtual) (k, scale VecVirtual) {
	k, scale = u.register(), u.register()
	u.addInt(c.shift, v, k)
	u.load(c.mantissa, m)
	u.and(k, m, m)
	u.addInt(c.root, m, m)
	u.shiftRight(U8(c.digits), k, k) // k plus the exponent bias
	u.load(c.twice, scale)
	u.subInt(k, scale, scale)
	u.shiftLeft(U8(c.digits), scale, scale)
	u.or(c.whole, k, k) // k in the lowest mantissa bits of 2^52 or 2^23
	u.sub(c.bias, k, k)
	return k, scale
}
