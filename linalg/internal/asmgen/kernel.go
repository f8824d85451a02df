package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"
)

// ofDistance writes a kernel that is a function of d = max(0, xx + zz - 2 xz);
// value gets registers full of d and of the kernel's two parameters.
func (u unit) ofDistance(name, formula string, value func(d, scale, power reg.VecVirtual) reg.VecVirtual) {
	l := u.function(name, "dst, xz, zz []%[1]s, xx, scale, power %[1]s",
		"sets the first n entries of dst to "+formula+" of d = max(0, xx + zz - 2 xz)")
	dst := Load(Param("dst").Base(), GP64())
	xz, zz := Load(Param("xz").Base(), GP64()), Load(Param("zz").Base(), GP64())
	xx, scale, power, none := u.number("xx"), u.number("scale"), u.number("power"), u.register()
	u.zero(none)
	l.start()
	d, cross := u.register(), u.register()
	u.add(l.at(zz), xx, d)
	u.load(l.at(xz), cross)
	u.add(cross, cross, cross)
	u.sub(cross, d, d)
	u.max(d, none, d) // this way round a NaN stays one
	u.store(value(d, scale, power), l.at(dst))
	l.finish()
}

// kernels writes those that there are.
func (u unit) kernels(c exponential) {
	u.ofDistance("rbf", "e^(scale d)", func(d, scale, _ reg.VecVirtual) reg.VecVirtual {
		u.mul(scale, d, d)
		return u.power(c, d)
	})
}
