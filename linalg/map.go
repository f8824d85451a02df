package linalg

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/simd"
)

// The functions from RBF to Polynomial turn the inner products xz of one row with other rows into kernel values.
// Functions of the squared distance d = max(0, xx + zz[j] - 2 xz[j]) also take the squared norms xx
// of the row and zz of the others. Each operation rounds to T: in float32 a squared distance is
// wrong by some 1e-7 of the squared norms. A value does not depend on its index j. The functions
// run on one core; use them inside For. They panic unless the slices are equally long; dst can be
// xz.

// RBF sets dst[j] to the Gaussian kernel exp(-gamma d) of the squared distance d.
func RBF[T Float](dst, xz []T, xx T, zz []T, gamma T) { rbfOn(Paths()[0], dst, xz, xx, zz, gamma) }

func rbfOn[T Float](p Path, dst, xz []T, xx T, zz []T, gamma T) {
	e := simd.ElementwiseOf[T](p)
	fillDistances(e.Vector, e.RBF, dst, xz, xx, zz, -gamma, 0)
}

// Laplacian sets dst[j] to exp(-gamma sqrt(d)), where d is the squared distance. Matérn's kernel
// with nu = 1/2 is the same, gamma being 1 / length scale.
func Laplacian[T Float](dst, xz []T, xx T, zz []T, gamma T) {
	laplacianOn(Paths()[0], dst, xz, xx, zz, gamma)
}

func laplacianOn[T Float](p Path, dst, xz []T, xx T, zz []T, gamma T) {
	e := simd.ElementwiseOf[T](p)
	fillDistances(e.Vector, e.Laplacian, dst, xz, xx, zz, -gamma, 0)
}

// Matern32 sets dst[j] to Matérn's kernel with nu = 3/2. It is (1 + r) exp(-r) with r = sqrt(3 d) /
// lengthScale (Rasmussen and Williams 2006, equation 4.17).
func Matern32[T Float](dst, xz []T, xx T, zz []T, lengthScale T) {
	matern32On(Paths()[0], dst, xz, xx, zz, lengthScale)
}

func matern32On[T Float](p Path, dst, xz []T, xx T, zz []T, lengthScale T) {
	e := simd.ElementwiseOf[T](p)
	fillDistances(e.Vector, e.Matern32, dst, xz, xx, zz, T(math.Sqrt(3)/float64(lengthScale)), 0)
}

// Matern52 sets dst[j] to Matérn's kernel with nu = 5/2. It is (1 + r + r^2/3) exp(-r) with r =
// sqrt(5 d) / lengthScale (Rasmussen and Williams 2006, equation 4.17).
func Matern52[T Float](dst, xz []T, xx T, zz []T, lengthScale T) {
	matern52On(Paths()[0], dst, xz, xx, zz, lengthScale)
}

func matern52On[T Float](p Path, dst, xz []T, xx T, zz []T, lengthScale T) {
	e := simd.ElementwiseOf[T](p)
	fillDistances(e.Vector, e.Matern52, dst, xz, xx, zz, T(math.Sqrt(5)/float64(lengthScale)), 1./3)
}

// RationalQuadratic sets dst[j] to (1 + d / (2 alpha lengthScale^2))^-alpha, where d is the squared
// distance. With y = d / (2 alpha lengthScale^2), it computes the logarithm of 1 + y accurately
// even for a small y. So it is accurate for a large alpha, too, for which the kernel approaches a
// Gaussian kernel.
func RationalQuadratic[T Float](dst, xz []T, xx T, zz []T, lengthScale, alpha T) {
	rationalOn(Paths()[0], dst, xz, xx, zz, lengthScale, alpha)
}

func rationalOn[T Float](p Path, dst, xz []T, xx T, zz []T, lengthScale, alpha T) {
	e := simd.ElementwiseOf[T](p)
	scale := 1 / (2 * float64(alpha) * float64(lengthScale) * float64(lengthScale))
	fillDistances(e.Vector, e.Rational, dst, xz, xx, zz, T(scale), -alpha)
}

// Polynomial sets dst[j] to (gamma xz[j] + coef0)^degree. It squares repeatedly and rounds alike on
// every path. It panics if degree is negative.
func Polynomial[T Float](dst, xz []T, gamma, coef0 T, degree int) {
	polynomialOn(Paths()[0], dst, xz, gamma, coef0, degree)
}

func polynomialOn[T Float](p Path, dst, xz []T, gamma, coef0 T, degree int) {
	if len(dst) != len(xz) || degree < 0 {
		panic(fmt.Sprintf("linalg: %d kernel values of degree %d of %d inner products", len(dst), degree, len(xz)))
	}
	e := simd.ElementwiseOf[T](p)
	fill(e.Vector, dst, xz, func(n int, dst, xz []T) { e.Polynomial(n, dst, xz, gamma, coef0, degree) })
}

// fillDistances computes all entries of dst by calling kernel on whole vectors.
func fillDistances[T Float](vector int, kernel simd.OfDistance[T], dst, xz []T, xx T, zz []T, scale, power T) {
	if len(dst) != len(xz) || len(zz) != len(xz) {
		panic(fmt.Sprintf("linalg: %d kernel values of %d inner products and %d squared norms", len(dst), len(xz), len(zz)))
	}
	n := len(xz) &^ (vector - 1)
	kernel(n, dst, xz, zz, xx, scale, power)
	if n < len(xz) {
		var products, norms [simd.Widest]T
		copy(products[:], xz[n:])
		copy(norms[:], zz[n:])
		kernel(vector, products[:], products[:], norms[:], xx, scale, power)
		copy(dst[n:], products[:])
	}
}

// fill computes all entries of dst by calling f on whole vectors. The rest of a slice is padded and
// goes through the same instructions, so that a value does not depend on its index.
func fill[T Float](vector int, dst, x []T, f func(n int, dst, x []T)) {
	n := len(x) &^ (vector - 1)
	f(n, dst, x)
	if n < len(x) {
		var rest [simd.Widest]T
		copy(rest[:], x[n:])
		f(vector, rest[:], rest[:])
		copy(dst[n:], rest[:])
	}
}

// Cos sets dst[i] to the cosine of x[i]. The error is at most 2.5 units in the last place up to |x|
// = 2^40 (float32: everywhere). For a larger |x| (float32: above 2^16), and in plain Go, Cos calls
// math.Cos. That function is slower, and close to a zero of the cosine its error is up to 2^-53.
// The cosine of a value that is not finite is NaN. It runs on one core; use it inside For. It
// panics unless dst is as long as x; dst can be x.
func Cos[T Float](dst, x []T) { cosOn(Paths()[0], dst, x) }

func cosOn[T Float](p Path, dst, x []T) {
	if len(dst) != len(x) {
		panic(fmt.Sprintf("linalg: %d cosines of %d values", len(dst), len(x)))
	}
	e := simd.ElementwiseOf[T](p)
	fill(e.Vector, dst, x, func(n int, dst, x []T) {
		for done := e.Cos(n, dst, x); done < n; done += e.Cos(n-done, dst[done:], x[done:]) {
			cosEach(e, dst[done:][:e.Vector], x[done:][:e.Vector])
			done += e.Vector
		}
	})
}

// cosEach computes the cosines of a vector in which some numbers are too large for e.Cos. It
// computes each entry alone, so that the other entries do not depend on such numbers.
func cosEach[T Float](e simd.Elementwise[T], dst, x []T) {
	for i, v := range x {
		var alone [simd.Widest]T
		alone[0] = v
		if e.Cos(e.Vector, alone[:], alone[:]) == 0 {
			alone[0] = T(math.Cos(float64(v)))
		}
		dst[i] = alone[0]
	}
}
