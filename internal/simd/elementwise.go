package simd

import "math"

// Elementwise holds an instruction set's functions that map each entry of a vector. The functions
// take multiples of Vector entries. The slice dst can also be the argument x or xz.
type Elementwise[T float] struct {
	Vector int
	// Exp sets dst to e^x.
	Exp func(n int, dst, x []T)
	// Cos sets dst to cos(x). It returns the number of finished entries. This number is below n if
	// the next vector has a number that is not finite or too large for Cos.
	Cos func(n int, dst, x []T) int
	// Polynomial sets dst to (scale xz + shift)^degree.
	Polynomial func(n int, dst, xz []T, scale, shift T, degree int)

	// RBF computes e^(scale d), and Laplacian e^(scale sqrt(d)). With r = scale sqrt(d), Matern32
	// computes (1 + r) e^-r, and Matern52 (1 + r + r^2 power) e^-r. Rational computes (1 + scale
	// d)^power.
	RBF, Laplacian, Matern32, Matern52, Rational OfDistance[T]
}

// OfDistance sets the first n entries of dst to a kernel of the squared distances d, where d =
// max(0, xx + zz - 2 xz).
type OfDistance[T float] func(n int, dst, xz, zz []T, xx, scale, power T)

// Widest is the greatest Vector of a path.
const Widest = 16

// ElementwiseOf returns the elementwise functions of a path.
func ElementwiseOf[T float](p Path) Elementwise[T] {
	if isSingle[T]() {
		return any(elementwise32(p)).(Elementwise[T])
	}
	return any(elementwise64(p)).(Elementwise[T])
}

// portableElementwise returns the elementwise functions in plain Go, the counterparts of the
// functions in assembly. In float32, each operation that rounds there, outside of exp, log and
// sqrt, rounds here too.
func portableElementwise[T float]() Elementwise[T] {
	return Elementwise[T]{
		Vector:     1,
		Exp:        expPortable[T],
		Cos:        cosPortable[T],
		Polynomial: polynomialPortable[T],
		RBF:        portableOfDistance(func(d, scale, _ T) T { return exp(scale * d) }),
		Laplacian:  portableOfDistance(func(d, scale, _ T) T { return exp(scale * sqrt(d)) }),
		Matern32: portableOfDistance(func(d, scale, _ T) T {
			r := min(scale*sqrt(d), nothing)
			return (1 + r) * exp(-r)
		}),
		Matern52: portableOfDistance(func(d, scale, power T) T {
			r := min(scale*sqrt(d), nothing)
			return (1 + T(r*(1+T(r*power)))) * exp(-r) //nolint:unconvert // keeps products and sums apart on all machines
		}),
		Rational: portableOfDistance(func(d, scale, power T) T {
			return exp(power * T(math.Log1p(float64(scale*d))))
		}),
	}
}

func cosPortable[T float](n int, dst, x []T) int {
	for i, v := range x[:n] {
		dst[i] = T(math.Cos(float64(v)))
	}
	return n
}

// expPortable sets dst to e^x. The result overflows from the same x on as math.Exp. On some
// machines, that x is a little below the logarithm of the largest number.
func expPortable[T float](n int, dst, x []T) {
	for i, v := range x[:n] {
		dst[i] = exp(v)
	}
}

func polynomialPortable[T float](n int, dst, xz []T, scale, shift T, degree int) {
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

// nothing is a number x for which e^-x is 0. Matérn kernels replace a larger x by nothing, because
// a larger x could make their other factor infinite.
const nothing = 800

func portableOfDistance[T float](value func(d, scale, power T) T) OfDistance[T] {
	return func(n int, dst, xz, zz []T, xx, scale, power T) {
		for j, v := range xz[:n] {
			dst[j] = value(max(0, xx+zz[j]-2*v), scale, power)
		}
	}
}

func exp[T float](x T) T  { return T(math.Exp(float64(x))) }
func sqrt[T float](x T) T { return T(math.Sqrt(float64(x))) }
