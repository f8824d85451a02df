package linalg

import (
	"fmt"
	"math"
)

// vector is how many entries the exponential takes at a time. The rest of a
// slice goes through the same instructions, filled up, so that a value does not
// depend on its place.
const vector = 8

// Exp sets dst[i] to e^x[i], within 2 units in the last place. Overflow is
// +Inf, underflow goes through the subnormal numbers to 0. It runs on one core;
// use it inside For. It panics unless dst is as long as x; dst may be x.
func Exp(dst, x []float64) { expOn(Paths()[0], dst, x) }

func expOn(p Path, dst, x []float64) {
	if len(dst) != len(x) {
		panic(fmt.Sprintf("linalg: %d exponentials of %d values", len(dst), len(x)))
	}
	n := len(x) &^ (vector - 1)
	expVectors(p, n, dst, x)
	if n < len(x) {
		var rest [vector]float64
		copy(rest[:], x[n:])
		expVectors(p, vector, rest[:], rest[:])
		copy(dst[n:], rest[:])
	}
}

// RBF sets dst[j] to the Gaussian kernel exp(-gamma d) of the squared distance
// d = max(0, xx + zz[j] - 2 xz[j]): xz holds the inner products of one row with
// others, xx and zz the squared norms. It runs on one core; use it inside For.
// It panics unless the three slices are equally long; dst may be xz.
func RBF(dst, xz []float64, xx float64, zz []float64, gamma float64) {
	rbfOn(Paths()[0], dst, xz, xx, zz, gamma)
}

func rbfOn(p Path, dst, xz []float64, xx float64, zz []float64, gamma float64) {
	if len(dst) != len(xz) || len(zz) != len(xz) {
		panic(fmt.Sprintf("linalg: %d kernel values of %d inner products and %d squared norms", len(dst), len(xz), len(zz)))
	}
	n := len(xz) &^ (vector - 1)
	rbfVectors(p, n, dst, xz, zz, xx, -gamma)
	if n < len(xz) {
		var products, norms [vector]float64
		copy(products[:], xz[n:])
		copy(norms[:], zz[n:])
		rbfVectors(p, vector, products[:], products[:], norms[:], xx, -gamma)
		copy(dst[n:], products[:])
	}
}

// expPortable overflows where math.Exp does, which on some machines is a little
// below the logarithm of the largest number.
func expPortable(n int, dst, x []float64) {
	for i, v := range x[:n] {
		dst[i] = math.Exp(v)
	}
}

func rbfPortable(n int, dst, xz, zz []float64, xx, factor float64) {
	for j, v := range xz[:n] {
		dst[j] = math.Exp(factor * max(0, xx+zz[j]-2*v))
	}
}
