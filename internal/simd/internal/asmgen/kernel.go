package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// constants holds the constants of all functions in one precision.
type constants struct {
	exp     exponential
	log     logarithm
	cos     cosine
	nothing Mem // exponent x for which e^-x is 0

	swapSigns []Mem
	sign      Mem // bit of the sign
}

func constantsOf(p precision) constants {
	return constants{
		exp: exponentialOf(p), log: logarithmOf(p), cos: cosineOf(p), nothing: p.constant("nothing", 800),
		swapSigns: swapSigns(p), sign: p.word("sign", 1<<(8*p.size-1)),
	}
}

// ofDistance writes a kernel function of the squared distance d = max(0, xx + zz - 2 xz). value
// receives registers full of d and of the kernel's two parameters.
func (u unit) ofDistance(name, formula string, value func(d, scale, power VecVirtual) VecVirtual) {
	l := u.function(name, "(n int, dst, xz, zz []%[1]s, xx, scale, power %[1]s)",
		"sets the first n entries of dst to "+formula+", where d = max(0, xx + zz - 2 xz)")
	dst := slice("dst")
	xz, zz := slice("xz"), slice("zz")
	xx, scale, power, none := u.number("xx"), u.number("scale"), u.number("power"), u.register()
	u.zero(none)
	l.start()
	d, cross := u.register(), u.register()
	u.add(l.at(zz), xx, d)
	u.load(l.at(xz), cross)
	u.add(cross, cross, cross)
	u.sub(cross, d, d)
	u.max(d, none, d) // with this order of operands, max keeps a NaN in d
	u.store(value(d, scale, power), l.at(dst))
	l.next()
	writeReturn()
}

// ofDistances writes all kernel functions of the squared distance.
func (u unit) ofDistances(c constants) {
	u.ofDistance("rbf", "e^(scale d)", func(d, scale, _ VecVirtual) VecVirtual {
		u.mul(scale, d, d)
		return u.power(c.exp, d)
	})
	u.ofDistance("laplacian", "e^(scale sqrt(d))", func(d, scale, _ VecVirtual) VecVirtual {
		u.sqrt(d, d)
		u.mul(scale, d, d)
		return u.power(c.exp, d)
	})
	u.ofDistance("matern32", "(1 + r) e^-r with r = scale sqrt(d)", func(d, scale, _ VecVirtual) VecVirtual {
		return u.matern(c, d, scale, nil)
	})
	u.ofDistance("matern52", "(1 + r + r^2 power) e^-r with r = scale sqrt(d)", func(d, scale, power VecVirtual) VecVirtual {
		return u.matern(c, d, scale, power)
	})
	u.ofDistance("rational", "(1 + scale d)^power", func(d, scale, power VecVirtual) VecVirtual {
		u.mul(scale, d, d)
		v := u.log1p(c.log, d)
		u.mul(power, v, v)
		return u.power(c.exp, v)
	})
}

// matern returns (1 + r + r^2 third) e^-r with r = scale sqrt(d). third is nil if its value is 0.
// For r = 800, e^-r is 0. A larger r is replaced by 800, because a larger r could make the other
// factor infinite.
func (u unit) matern(c constants, d, scale, third VecVirtual) VecVirtual {
	factor, minus := u.register(), u.register()
	u.sqrt(d, d)
	u.mul(scale, d, d)
	u.load(c.nothing, factor)
	u.min(d, factor, d) // with this order of operands, min keeps a NaN in d
	u.load(c.log.one, factor)
	if third != nil {
		u.fma(third, d, factor)
		u.mul(d, factor, factor)
		u.add(c.log.one, factor, factor)
	} else {
		u.add(d, factor, factor)
	}
	u.zero(minus)
	u.sub(d, minus, minus)
	value := u.power(c.exp, minus)
	u.mul(factor, value, value)
	return value
}

// polynomialKernel writes the function (scale xz + shift)^degree. It squares repeatedly.
func (u unit) polynomialKernel(c constants) {
	l := u.function("polynomial", "(n int, dst, xz []%[1]s, scale, shift %[1]s, degree int)",
		"sets the first n entries of dst to (scale xz + shift)^degree, where degree is at least 0")
	dst, xz := slice("dst"), slice("xz")
	scale, shift, degree := u.number("scale"), u.number("shift"), integer("degree")
	l.start()
	x, y, left := u.register(), u.register(), GP64()
	u.mul(l.at(xz), scale, x)
	u.add(shift, x, x)
	u.load(c.log.one, y)
	MOVQ(degree, left)
	Label("bit")
	TESTQ(U32(1), left)
	JZ(LabelRef("even"))
	u.mul(x, y, y)
	Label("even")
	u.mul(x, x, x)
	SHRQ(U8(1), left)
	JNZ(LabelRef("bit"))
	u.store(y, l.at(dst))
	l.next()
	writeReturn()
}
