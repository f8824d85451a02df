// Package simd holds the kernels of package linalg, in assembly and in plain Go,
// and says which this machine has. A path must be one of Paths. Kernels check no
// lengths, except where slicing does: what they are given must be there. Lengths,
// distances and steps are numbers of values. The kernels of Portable are the twins
// of the others.
package simd

import "fmt"

type float interface{ float32 | float64 }

// Path is an instruction set that kernels are written for.
type Path int

const (
	Portable Path = iota // plain Go
	AVX2                 // with FMA, 256 bits
	AVX512               // 512 bits
)

func (p Path) String() string {
	switch p {
	case Portable:
		return "portable"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return fmt.Sprintf("Path(%d)", int(p))
}

// isSingle reports whether T is float32.
func isSingle[T float]() bool {
	_, single := any(*new(T)).(float32)
	return single
}
