package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// exponential holds the constants for e^x.
type exponential struct {
	high, low, log2e, hi, lo Mem
	taylor                   []Mem // Taylor coefficients of e^r
	bias                     Mem   // exponent bias, repeated in every 32 bits
	digits                   int
}

// exponentialOf writes the constants for e^x. The logarithm of 2 is split into two parts. The first
// part ends in zeros, so that multiples of the first part are exact. The Taylor polynomial of e^r,
// |r| <= log(2)/2, has an error of 4e-18 in float64 and 5e-9 in float32.
func exponentialOf(p precision) exponential {
	hi, high, low, degree := 0x1.62e42fep-1, 710., -746., 13
	if p.size == 4 {
		hi, high, low, degree = 0x1.62e4p-1, 89, -105, 7
	}
	c := exponential{digits: p.digits}
	c.high = p.constant("expHigh", high)
	c.low = p.constant("expLow", low)
	c.log2e = p.constant("expLog2e", math.Log2E)
	c.hi = p.constant("expHi", hi)
	c.lo = p.constant("expLo", rest(hi))
	c.taylor = p.series("expTaylor", degree, func(k int) float64 { return 1 / factorial(k) })
	c.bias = GLOBL("expBias"+p.suffix, RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, U32(p.bias))
	}
	return c
}

// rest returns the difference of log 2 and hi, rounded only once. The difference of the constants
// is exact.
func rest(hi float64) float64 {
	if hi == 0x1.62e4p-1 {
		return math.Ln2 - 0x1.62e4p-1
	}
	return math.Ln2 - 0x1.62e42fep-1
}

// nearest is the rounding mode in which round returns the nearest integer.
const nearest = 8

// power returns e^v as 2^n e^r, where n is the integer nearest to v / log 2.
func (u unit) power(c exponential, v VecVirtual) VecVirtual {
	n, bound, e := u.register(), u.register(), u.register()
	u.load(c.high, bound)
	u.min(v, bound, v) // with this order of operands, min keeps a NaN in v
	u.load(c.low, bound)
	u.max(v, bound, v)
	u.mul(c.log2e, v, n)
	u.round(U8(nearest), n, n)
	u.fnma(c.hi, n, v)
	u.fnma(c.lo, n, v)
	u.polynomial(c.taylor, v, e)
	u.scale(c, n, e)
	return e
}

// polynomial sets e to the value of the polynomial series at v.
func (u unit) polynomial(series []Mem, v, e VecVirtual) {
	u.load(series[0], e)
	for _, t := range series[1:] {
		u.horner(t, v, e)
	}
}

// scaleNarrow multiplies e by 2^n. It does so in two steps, because 2^n alone can be too large or too
// small for a number.
func scaleNarrow(c exponential, n, e VecVirtual) {
	whole, half, bias := XMM(), XMM(), XMM()
	VCVTPD2DQY(n, whole)
	VPSRAD(U8(1), whole, half)
	VPSUBD(half, whole, whole)
	VMOVDQU(c.bias, bias)
	for _, part := range []VecVirtual{whole, half} {
		power := YMM()
		VPADDD(bias, part, part)
		VPMOVSXDQ(part, power)
		VPSLLQ(U8(c.digits), power, power)
		VMULPD(power, e, e)
	}
}

// scaleNarrowSingle multiplies e by 2^n in float32.
func scaleNarrowSingle(c exponential, n, e VecVirtual) {
	whole, half := YMM(), YMM()
	VCVTPS2DQ(n, whole)
	VPSRAD(U8(1), whole, half)
	VPSUBD(half, whole, whole)
	for _, part := range []VecVirtual{whole, half} {
		VPADDD(c.bias, part, part)
		VPSLLD(U8(c.digits), part, part)
		VMULPS(part, e, e)
	}
}
