package linalg

import (
	"fmt"
	"math"
)

// elementwise is the functions of single values that a path has. They take
// vector entries at a time. The rest of a slice goes through the same
// instructions, filled up, so that a value does not depend on its place.
type elementwise[T Float] struct {
	vector int
	exp    func(n int, dst, x []T)
	// cos may end early: it returns how many entries it did, and the vector
	// after those holds a number that is too large for it, or not finite.
	cos        func(n int, dst, x []T) int
	polynomial func(n int, dst, xz []T, scale, shift T, degree int)

	rbf, laplacian, matern32, matern52, rational ofDistance[T]
}

// ofDistance sets the first n entries of dst to a kernel of the squared
// distances d = max(0, xx + zz - 2 xz). What scale and power are is told with
// the portable kernels.
type ofDistance[T Float] func(n int, dst, xz, zz []T, xx, scale, power T)

func elementwiseOf[T Float](p Path) elementwise[T] {
	var zero T
	if _, single := any(zero).(float32); single {
		return any(elementwise32(p)).(elementwise[T])
	}
	return any(elementwise64(p)).(elementwise[T])
}

// widest is the most entries that a path takes at a time.
const widest = 16

// fill makes whole vectors of all entries.
func fill[T Float](vector int, dst, x []T, f func(n int, dst, x []T)) {
	n := len(x) &^ (vector - 1)
	f(n, dst, x)
	if n < len(x) {
		var rest [widest]T
		copy(rest[:], x[n:])
		f(vector, rest[:], rest[:])
		copy(dst[n:], rest[:])
	}
}

// fill makes whole vectors of all entries of a kernel's slices.
func (kernel ofDistance[T]) fill(vector int, dst, xz []T, xx T, zz []T, scale, power T) {
	if len(dst) != len(xz) || len(zz) != len(xz) {
		panic(fmt.Sprintf("linalg: %d kernel values of %d inner products and %d squared norms", len(dst), len(xz), len(zz)))
	}
	n := len(xz) &^ (vector - 1)
	kernel(n, dst, xz, zz, xx, scale, power)
	if n < len(xz) {
		var products, norms [widest]T
		copy(products[:], xz[n:])
		copy(norms[:], zz[n:])
		kernel(vector, products[:], products[:], norms[:], xx, scale, power)
		copy(dst[n:], products[:])
	}
}

// portableElementwise is the twin of the functions in assembly. In float32,
// each operation of theirs that is not inside exp, log or sqrt rounds here too.
func portableElementwise[T Float]() elementwise[T] {
	return elementwise[T]{
		vector:     1,
		exp:        expPortable[T],
		cos:        cosPortable[T],
		polynomial: polynomialPortable[T],
		rbf:        portableOfDistance(func(d, scale, _ T) T { return exp(scale * d) }),
		laplacian:  portableOfDistance(func(d, scale, _ T) T { return exp(scale * sqrt(d)) }),
		matern32: portableOfDistance(func(d, scale, _ T) T {
			r := min(scale*sqrt(d), nothing)
			return (1 + r) * exp(-r)
		}),
		matern52: portableOfDistance(func(d, scale, power T) T {
			r := min(scale*sqrt(d), nothing)
			return (1 + T(r*(1+T(r*power)))) * exp(-r) //nolint:unconvert // keeps products and sums apart on all machines
		}),
		rational: portableOfDistance(func(d, scale, power T) T {
			return exp(power * T(math.Log1p(float64(scale*d))))
		}),
	}
}

func cosPortable[T Float](n int, dst, x []T) int {
	for i, v := range x[:n] {
		dst[i] = T(math.Cos(float64(v)))
	}
	return n
}

// expPortable overflows where math.Exp does, which on some machines is a little
// below the logarithm of the largest number.
func expPortable[T Float](n int, dst, x []T) {
	for i, v := range x[:n] {
		dst[i] = exp(v)
	}
}

func polynomialPortable[T Float](n int, dst, xz []T, scale, shift T, degree int) {
	for j, v := range xz[:n] {
		x, y := T(scale*v)+shift, T(1) //nolint:unconvert // keeps the product and the sum apart on all machines
		for left := degree; left > 0; left /= 2 {
			if left%2 == 1 {
				y *= x
			}
			x *= x
		}
		dst[j] = y
	}
}

// nothing is a power of e that is 0 when negative. No larger one is let in,
// which could make the other factor infinite.
const nothing = 800

func portableOfDistance[T Float](value func(d, scale, power T) T) ofDistance[T] {
	return func(n int, dst, xz, zz []T, xx, scale, power T) {
		for j, v := range xz[:n] {
			dst[j] = value(max(0, xx+zz[j]-2*v), scale, power)
		}
	}
}

func exp[T Float](x T) T  { return T(math.Exp(float64(x))) }
func sqrt[T Float](x T) T { return T(math.Sqrt(float64(x))) }
