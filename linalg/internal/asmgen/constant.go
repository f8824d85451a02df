package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
)

// precision is what a function's numbers look like.
type precision struct {
	suffix string // of names
	size   int    // bytes of a value
	digits int    // bits of the mantissa, without the leading one
	bias   int    // of the exponent
}

func double() precision { return precision{"64", 8, 52, 1023} }
func single() precision { return precision{"32", 4, 23, 127} }

// constant writes a number as often as the widest register holds it.
func (p precision) constant(name string, v float64) operand.Mem {
	if p.size == 8 {
		return p.word(name, math.Float64bits(v))
	}
	return p.word(name, uint64(math.Float32bits(float32(v))))
}

// word writes the bits of a number.
func (p precision) word(name string, bits uint64) operand.Mem {
	at := GLOBL(name+p.suffix, RODATA|NOPTR)
	for i := 0; i < 64; i += p.size {
		if p.size == 8 {
			DATA(i, operand.U64(bits))
		} else {
			DATA(i, operand.U32(bits))
		}
	}
	return at
}

// series writes the coefficients of a polynomial, the highest power first.
func (p precision) series(name string, degree int, coefficient func(k int) float64) []operand.Mem {
	var all []operand.Mem
	for k := degree; k >= 0; k-- {
		all = append(all, p.constant(fmt.Sprint(name, k), coefficient(k)))
	}
	return all
}

func factorial(n int) float64 {
	f := 1.0
	for i := 2; i <= n; i++ {
		f *= float64(i)
	}
	return f
}
