// Command asmgen writes the assembly of package simd and of the keystream in package prg. Package
// simd needs the micro-kernels of the matrix product, butterflies, reflections, moves of rows,
// squares and values, functions of single values, the passes of sequential minimal optimisation,
// sums of words, phases as words, and the loops that measure the peak rate of a core. Asmgen is a
// module of its own, so that its generator library is no dependency of the program. "go generate
// ./internal/simd ./internal/crypto/prg" runs it.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("amd64")
	flag.Parse()
	switch flag.Arg(0) {
	case "smo":
		writeSMO()
	case "words":
		writeWords()
	case "ring":
		writeRing()
	case "keystream":
		writeKeystream()
	default:
		writeMicro()
	}
	Generate()
}

// writeMicro writes the functions for matrix products, transforms and kernels.
func writeMicro() {
	numbers := map[int]constants{8: constantsOf(double()), 4: constantsOf(single())}
	for _, u := range units() {
		u.product("set", false)
		u.product("add", true)
		u.peak()
		u.butterflies("quarters", 2)
		u.butterflies("eighths", 3)
		u.lowest(numbers[u.size].swapSigns)
		u.flip(numbers[u.size].sign)
		u.exp(numbers[u.size].exp)
		u.cos(numbers[u.size].cos)
		u.ofDistances(numbers[u.size])
		if u.size == 8 {
			for vectors := range u.vectors {
				u.productAsking(vectors + 1)
			}
			u.reflect()
			u.turnRows(numbers[u.size].sign)
			u.copyStrips()
			u.askStrips()
			u.neighbours()
			u.scatter("scatterRows", 0, numbers[u.size].sign)
			u.scatter("scatterEighths", 3, numbers[u.size].sign)
			u.pickValues("pickValues", false)
			u.pickValues("pickValuesAway", true)
		}
		u.transpose()
		if u.width == line {
			u.transposeAway()
		}
		u.polynomialKernel(numbers[u.size])
	}
}

// writeSMO writes the passes of sequential minimal optimisation, and the passes over new kernel rows.
func writeSMO() {
	for _, u := range units() {
		if u.size == 8 {
			u.smo(8)
			u.smo(4)
			u.doubts(8)
			u.doubts(4)
			u.narrow()
		}
	}
}
