package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sparseWidth is how many rows are spread out at a time: see SparseProducts.
const sparseWidth = 32

// sparse writes the combination of a few columns of sparseWidth numbers each; u
// is a unit of float64.
func (u unit) sparse() {
	name := "sparse" + u.suffix
	TEXT(name, NOSPLIT, "func(n int, index []int32, value, spread, dst []float64)")
	Doc(fmt.Sprintf("%s is a sparseCombination.", name))
	Pragma("noescape")
	n, index, value := Load(Param("n"), GP64()), Load(Param("index").Base(), GP64()), Load(Param("value").Base(), GP64())
	spread, dst := Load(Param("spread").Base(), GP64()), Load(Param("dst").Base(), GP64())
	sums := make([]reg.VecVirtual, sparseWidth*8/u.width)
	for v := range sums {
		sums[v] = u.register()
		u.zero(sums[v])
	}
	i := GP64()
	XORQ(i, i)
	CMPQ(n, operand.U8(0))
	JE(operand.LabelRef("done"))
	Label("turn")
	at, factor := GP64(), u.register()
	MOVLQSX(operand.Mem{Base: index, Index: i, Scale: 4}, at)
	SHLQ(operand.U8(8), at) // sparseWidth numbers of 8 bytes
	u.broadcast(operand.Mem{Base: value, Index: i, Scale: 8}, factor)
	for v := range sums {
		u.fma(operand.Mem{Base: spread, Index: at, Scale: 1, Disp: v * u.width}, factor, sums[v])
	}
	INCQ(i)
	CMPQ(i, n)
	JL(operand.LabelRef("turn"))
	Label("done")
	for v := range sums {
		u.store(sums[v], operand.Mem{Base: dst, Disp: v * u.width})
	}
	VZEROUPPER()
	RET()
}
