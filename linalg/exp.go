package linalg

import (
	"fmt"
	"math"
)

// Exp sets dst[i] to e^x[i], within 2 units in the last place. Overflow is
// +Inf, underflow goes through the subnormal numbers to 0. It runs on one core;
// use it inside For. It panics unless dst is as long as x; dst may be x.
func Exp[T Float](dst, x []T) { expOn(Paths()[0], dst, x) }

func expOn[T Float](p Path, dst, x []T) {
	if len(dst) != len(x) {
		panic(fmt.Sprintf("linalg: %d exponentials of %d values", len(dst), len(x)))
	}
	e := elementwiseOf[T](p)
	n := len(x) &^ (e.vector - 1)
	e.exp(n, dst, x)
	if n < len(x) {
		var rest [widest]T
		copy(rest[:], x[n:])
		e.exp(e.vector, rest[:], rest[:])
		copy(dst[n:], rest[:])
	}
}

// RBF sets dst[j] to the Gaussian kernel exp(-gamma d) of the squared distance
// d = max(0, xx + zz[j] - 2 xz[j]): xz holds the inner products of one row with
// others, xx and zz the squared norms. Each operation rounds to T: in float32
// the distance of two rows is wrong by some 1e-7 of their squared norms. It
// runs on one core; use it inside For. It panics unless the three slices are
// equally long; dst may be xz.
func RBF[T Float](dst, xz []T, xx T, zz []T, gamma T) { rbfOn(Paths()[0], dst, xz, xx, zz, gamma) }

func rbfOn[T Float](p Path, dst, xz []T, xx T, zz []T, gamma T) {
	e := elementwiseOf[T](p)
	e.rbf.fill(e.vector, dst, xz, xx, zz, -gamma, 0)
}

// expPortable overflows where math.Exp does, which on some machines is a little
// below the logarithm of the largest number.
func expPortable[T Float](n int, dst, x []T) {
	for i, v := range x[:n] {
		dst[i] = T(math.Exp(float64(v)))
	}
}
