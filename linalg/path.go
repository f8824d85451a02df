package linalg

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Path names the instruction set of a micro-kernel for products. It has a method String. Functions
// without a path use the fastest one of the machine. Results of two paths differ in rounding only:
// the vector paths fuse each product with its addition, the portable one rounds both.
type Path = simd.Path

const (
	Portable Path = simd.Portable // plain Go
	AVX2     Path = simd.AVX2     // AVX2 and FMA, 256 bits
	AVX512   Path = simd.AVX512   // 512 bits
)

// Paths lists the paths that this machine supports, the fastest first.
func Paths() []Path { return simd.Paths() }

// microOf returns the micro-kernel of a path. It panics if the machine lacks the instructions.
func microOf[T Float](p Path) simd.Micro[T] {
	if !slices.Contains(Paths(), p) {
		panic(fmt.Sprintf("linalg: this machine has no %v; Paths lists what it has", p))
	}
	return simd.MicroOf[T](p)
}

// best returns the micro-kernel of the fastest path.
func best[T Float]() simd.Micro[T] { return microOf[T](Paths()[0]) }

// FMA multiplies and adds in registers on several cores and returns the number of floating-point
// operations done. Each core runs the given number of turns, and a turn takes some nanoseconds.
// The caller measures the rate of these operations. No product on the path can exceed this rate.
func FMA[T Float](p Path, cores, turns int) float64 {
	m := microOf[T](p)
	For(cores, 1, func(lo, hi int) { m.Peak(turns) })
	return 2 * float64(m.PerTurn) * float64(turns) * float64(cores)
}
