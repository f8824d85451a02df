package linalg

import (
	"fmt"
	"math"
)

// The maps below turn the inner products xz of one row with others into kernel
// values. Maps of the squared distance d = max(0, xx + zz[j] - 2 xz[j]) take
// the squared norms xx of the row and zz of the others too. Each operation
// rounds to T: in float32 a squared distance is wrong by some 1e-7 of the
// squared norms. A value does not depend on its place j. The maps run on one
// core; use them inside For. They panic unless the slices are equally long;
// dst may be xz.

// RBF sets dst[j] to the Gaussian kernel exp(-gamma d).
func RBF[T Float](dst, xz []T, xx T, zz []T, gamma T) { rbfOn(Paths()[0], dst, xz, xx, zz, gamma) }

func rbfOn[T Float](p Path, dst, xz []T, xx T, zz []T, gamma T) {
	e := elementwiseOf[T](p)
	e.rbf.fill(e.vector, dst, xz, xx, zz, -gamma, 0)
}

// Laplacian sets dst[j] to exp(-gamma sqrt(d)). Matérn's kernel with nu = 1/2 is
// the same, gamma being 1 / length scale.
func Laplacian[T Float](dst, xz []T, xx T, zz []T, gamma T) {
	laplacianOn(Paths()[0], dst, xz, xx, zz, gamma)
}

func laplacianOn[T Float](p Path, dst, xz []T, xx T, zz []T, gamma T) {
	e := elementwiseOf[T](p)
	e.laplacian.fill(e.vector, dst, xz, xx, zz, -gamma, 0)
}

// Matern32 sets dst[j] to Matérn's kernel with nu = 3/2: (1 + r) exp(-r), r =
// sqrt(3 d) / lengthScale (Rasmussen and Williams 2006, equation 4.17).
func Matern32[T Float](dst, xz []T, xx T, zz []T, lengthScale T) {
	matern32On(Paths()[0], dst, xz, xx, zz, lengthScale)
}

func matern32On[T Float](p Path, dst, xz []T, xx T, zz []T, lengthScale T) {
	e := elementwiseOf[T](p)
	e.matern32.fill(e.vector, dst, xz, xx, zz, T(math.Sqrt(3)/float64(lengthScale)), 0)
}

// Matern52 sets dst[j] to Matérn's kernel with nu = 5/2: (1 + r + r^2/3)
// exp(-r), r = sqrt(5 d) / lengthScale (Rasmussen and Williams 2006, equation
// 4.17).
func Matern52[T Float](dst, xz []T, xx T, zz []T, lengthScale T) {
	matern52On(Paths()[0], dst, xz, xx, zz, lengthScale)
}

func matern52On[T Float](p Path, dst, xz []T, xx T, zz []T, lengthScale T) {
	e := elementwiseOf[T](p)
	e.matern52.fill(e.vector, dst, xz, xx, zz, T(math.Sqrt(5)/float64(lengthScale)), 1./3)
}

// RationalQuadratic sets dst[j] to (1 + d / (2 alpha lengthScale^2))^-alpha. It
// goes by the logarithm of 1 + y for small y, so that a large alpha, which
// makes it a Gaussian kernel, does not spoil it.
func RationalQuadratic[T Float](dst, xz []T, xx T, zz []T, lengthScale, alpha T) {
	rationalOn(Paths()[0], dst, xz, xx, zz, lengthScale, alpha)
}

func rationalOn[T Float](p Path, dst, xz []T, xx T, zz []T, lengthScale, alpha T) {
	e := elementwiseOf[T](p)
	scale := 1 / (2 * float64(alpha) * float64(lengthScale) * float64(lengthScale))
	e.rational.fill(e.vector, dst, xz, xx, zz, T(scale), -alpha)
}

// Polynomial sets dst[j] to (gamma xz[j] + coef0)^degree by repeated squaring,
// rounded alike on every path. It panics when degree is negative.
func Polynomial[T Float](dst, xz []T, gamma, coef0 T, degree int) {
	polynomialOn(Paths()[0], dst, xz, gamma, coef0, degree)
}

func polynomialOn[T Float](p Path, dst, xz []T, gamma, coef0 T, degree int) {
	if len(dst) != len(xz) || degree < 0 {
		panic(fmt.Sprintf("linalg: %d kernel values of degree %d of %d inner products", len(dst), degree, len(xz)))
	}
	e := elementwiseOf[T](p)
	fill(e.vector, dst, xz, func(n int, dst, xz []T) { e.polynomial(n, dst, xz, gamma, coef0, degree) })
}
