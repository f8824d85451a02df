// Command asmgen writes the assembly of package linalg: the micro-kernels of
// the matrix product, the exponential, butterflies, and the loops that measure what a core can do at best.
// It is a module of its own so that the generator is no dependency of the
// program. "go generate ./linalg" runs it.
package main

import (
	. "github.com/mmcloughlin/avo/build"
)

func main() {
	ConstraintExpr("amd64")
	exponentials := map[int]exponential{8: exponentialOf(double()), 4: exponentialOf(single())}
	for _, u := range units() {
		u.product("set", false)
		u.product("add", true)
		u.peak()
		u.butterflies("quarters", 2)
		u.butterflies("eighths", 3)
		u.exp(exponentials[u.size])
		u.kernels(exponentials[u.size])
	}
	Generate()
}
