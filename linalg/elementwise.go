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
	rbf    ofDistance[T]
}

// ofDistance sets the first n entries of dst to a kernel of the squared
// distances d = max(0, xx + zz - 2 xz). Each kernel says what it makes of scale
// and power.
type ofDistance[T Float] func(n int, dst, xz, zz []T, xx, scale, power T)

func elementwiseOf[T Float](p Path) elementwise[T] {
	var zero T
	if _, single := any(zero).(float32); single {
		return any(elementwise32(p)).(elementwise[T])
	}
	return any(elementwise64(p)).(elementwise[T])
}

func portableElementwise[T Float]() elementwise[T] {
	return elementwise[T]{
		vector: 1,
		exp:    expPortable[T],
		rbf:    portableOfDistance(func(d, scale, _ T) T { return T(math.Exp(float64(scale * d))) }),
	}
}

// widest is the most entries that a path takes at a time.
const widest = 16

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

func portableOfDistance[T Float](value func(d, scale, power T) T) ofDistance[T] {
	return func(n int, dst, xz, zz []T, xx, scale, power T) {
		for j, v := range xz[:n] {
			dst[j] = value(max(0, xx+zz[j]-2*v), scale, power)
		}
	}
}
