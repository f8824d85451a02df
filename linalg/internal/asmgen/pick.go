package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// picked is how many values are picked per turn: a register.
const picked = 8

// pickValues writes the choice of single values, none of them behind the last.
func (u unit) pickValues() {
	TEXT("pickValues"+u.suffix, NOSPLIT, "func(n int, to, from []float64, places []uint32)")
	Doc(fmt.Sprintf("pickValues%s is pickValues; n is a positive multiple of %d.", u.suffix, picked))
	Pragma("noescape")
	left, to, from, places := Load(Param("n"), GP64()), slice("to"), slice("from"), slice("places")
	end, low, last := GP64(), XMM(), YMM()
	Load(Param("from").Len(), end)
	DECQ(end)
	VMOVQ(end, low)
	VPBROADCASTD(low, last)
	Label("turn")
	at, all, v := YMM(), K(), ZMM()
	VPMINUD(operand.Mem{Base: places}, last, at)
	KXNORW(all, all, all)
	VGATHERDPD(operand.Mem{Base: from, Index: at, Scale: 8}, all, v)
	u.store(v, operand.Mem{Base: to})
	ADDQ(operand.U32(4*picked), places)
	ADDQ(operand.U32(8*picked), to)
	SUBQ(operand.U32(picked), left)
	JNZ(operand.LabelRef("turn"))
	VZEROUPPER()
	RET()
}
