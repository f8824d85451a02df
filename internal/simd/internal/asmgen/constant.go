package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// precision describes the floating-point format of a function's values.
type precision struct {
	suffix string // ending of names
	size   int    // number of bytes of a value
	digits int    // number of bits of the mantissa without the leading bit
	bias   int    // bias of the exponent
}

func double() precision { return precision{"64", 8, 52, 1023} }
func single() precision { return precision{"32", 4, 23, 127} }

// constant writes a data block that repeats a number in all lanes of the widest register.
func (p precision) constant(name string, v float64) Mem {
	return p.pattern(name, func(int) float64 { return v })
}

// pattern writes a data block with one number for each lane of the widest register.
func (p precision) pattern(name string, v func(lane int) float64) Mem {
	return p.words(name, func(lane int) uint64 {
		if p.size == 8 {
			return math.Float64bits(v(lane))
		}
		return uint64(math.Float32bits(float32(v(lane))))
	})
}

// word writes a data block that repeats the given bits in all lanes of the widest register.
func (p precision) word(name string, bits uint64) Mem {
	return p.words(name, func(int) uint64 { return bits })
}

func (p precision) words(name string, bits func(lane int) uint64) Mem {
	at := GLOBL(name+p.suffix, RODATA|NOPTR)
	for lane := range 64 / p.size {
		if p.size == 8 {
			DATA(8*lane, U64(bits(lane)))
		} else {
			DATA(4*lane, U32(bits(lane)))
		}
	}
	return at
}

// series writes the coefficients of a polynomial, beginning with the highest power.
func (p precision) series(name string, degree int, coefficient func(k int) float64) []Mem {
	var all []Mem
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
