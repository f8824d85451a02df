package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// constants are the numbers of the exponential, each as often as the widest
// register holds it.
type constants struct {
	high, low, log2e, hi, lo operand.Mem
	taylor                   []operand.Mem // of e^r, the highest power first
	two                      operand.Mem
	bias                     operand.Mem // of the exponent, in every 32 bits
}

// degree of the polynomial: what it leaves out of e^r, |r| <= log(2)/2, is
// 4e-18.
const degree = 13

// constantsOf writes them. The logarithm of 2 comes in two parts, the first
// with zeros at its end, so that its multiples are exact.
func constantsOf() constants {
	const hi = 0x1.62e42fep-1
	c := constants{
		high:  repeat("expHigh", 710),
		low:   repeat("expLow", -746),
		log2e: repeat("expLog2e", math.Log2E),
		hi:    repeat("expHi", hi),
		lo:    repeat("expLo", math.Ln2-hi), // a difference of constants: rounded once
		two:   repeat("expTwo", 2),
	}
	factorial := 1.0
	c.taylor = make([]operand.Mem, degree+1)
	for i := range c.taylor {
		factorial *= float64(max(i, 1))
		c.taylor[degree-i] = repeat(fmt.Sprint("expTaylor", i), 1/factorial)
	}
	c.bias = GLOBL("expBias", RODATA|NOPTR)
	for i := range 8 {
		DATA(4*i, operand.U32(1023))
	}
	return c
}

func repeat(name string, v float64) operand.Mem {
	at := GLOBL(name, RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, operand.F64(v))
	}
	return at
}

// exp writes the loops over whole registers: one of e^x, and one of the
// Gaussian kernel of squared distances.
func (u unit) exp(c constants) {
	TEXT("exp"+u.suffix, NOSPLIT, "func(n int, dst, x []float64)")
	Doc(fmt.Sprintf("exp%s sets the first n entries of dst to e^x; n is a multiple of %d.", u.suffix, u.width/u.size))
	Pragma("noescape")
	n, dst, x := Load(Param("n"), GP64()), Load(Param("dst").Base(), GP64()), Load(Param("x").Base(), GP64())
	i := u.start(n)
	v := u.register()
	u.load(operand.Mem{Base: x, Index: i, Scale: 8}, v)
	u.store(u.power(c, v), operand.Mem{Base: dst, Index: i, Scale: 8})
	u.finish(i, n)

	TEXT("rbf"+u.suffix, NOSPLIT, "func(n int, dst, xz, zz []float64, xx, factor float64)")
	Doc(fmt.Sprintf("rbf%s sets the first n entries of dst to e^(factor max(0, xx + zz - 2 xz)); n is a multiple of %d.", u.suffix, u.width/u.size))
	Pragma("noescape")
	n, dst = Load(Param("n"), GP64()), Load(Param("dst").Base(), GP64())
	xz, zz := Load(Param("xz").Base(), GP64()), Load(Param("zz").Base(), GP64())
	xx, factor, two, none := u.register(), u.register(), u.register(), u.register()
	u.broadcast(address(Param("xx")), xx)
	u.broadcast(address(Param("factor")), factor)
	u.load(c.two, two)
	u.zero(none)
	i = u.start(n)
	d, cross := u.register(), u.register()
	VADDPD(operand.Mem{Base: zz, Index: i, Scale: 8}, xx, d)
	u.load(operand.Mem{Base: xz, Index: i, Scale: 8}, cross)
	VFNMADD231PD(two, cross, d)
	VMAXPD(d, none, d) // this way round a NaN stays one
	VMULPD(factor, d, d)
	u.store(u.power(c, d), operand.Mem{Base: dst, Index: i, Scale: 8})
	u.finish(i, n)
}

func address(c gotypes.Component) operand.Op {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// start begins a loop over n entries; finish ends it and the function.
func (u unit) start(n reg.Register) reg.Register {
	i := GP64()
	XORQ(i, i)
	CMPQ(n, operand.U8(0))
	JE(operand.LabelRef("done"))
	Label("turn")
	return i
}

func (u unit) finish(i, n reg.Register) {
	ADDQ(operand.U8(u.width/u.size), i)
	CMPQ(i, n)
	JL(operand.LabelRef("turn"))
	Label("done")
	VZEROUPPER()
	RET()
}

// power returns e^v: 2^n e^r, where n is the whole number next to v / log 2.
func (u unit) power(c constants, v reg.VecVirtual) reg.VecVirtual {
	n, bound, e := u.register(), u.register(), u.register()
	u.load(c.high, bound)
	VMINPD(v, bound, v) // this way round a NaN stays one
	u.load(c.low, bound)
	VMAXPD(v, bound, v)
	VMULPD(c.log2e, v, n)
	u.round(n)
	VFNMADD231PD(c.hi, n, v)
	VFNMADD231PD(c.lo, n, v)
	u.load(c.taylor[0], e)
	for _, t := range c.taylor[1:] {
		VFMADD213PD(t, v, e)
	}
	u.scale(c, n, e)
	return e
}

// scaleWide multiplies e by 2^n.
func scaleWide(_ constants, n, e reg.VecVirtual) { VSCALEFPD(n, e, e) }

// scaleNarrow does so in two steps, because 2^n alone may not be a number.
func scaleNarrow(c constants, n, e reg.VecVirtual) {
	whole, half, bias := XMM(), XMM(), XMM()
	VCVTPD2DQY(n, whole)
	VPSRAD(operand.U8(1), whole, half)
	VPSUBD(half, whole, whole)
	VMOVDQU(c.bias, bias)
	for _, part := range []reg.VecVirtual{whole, half} {
		power := YMM()
		VPADDD(bias, part, part)
		VPMOVSXDQ(part, power)
		VPSLLQ(operand.U8(52), power, power)
		VMULPD(power, e, e)
	}
}
