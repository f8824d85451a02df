package linalg

import "github.com/mercer-fl/mercer/internal/simd"

// Paths by force, for tests.

func SquaredNormsOn[T Float](p Path, dst []float64, a Matrix[T]) {
	squaredNorms(microOf[float64](p), dst, a)
}

func MulTransBWideOn(p Path, dst Matrix[float64], a, b Matrix[float32]) {
	multiply(p, dst, a, b, false)
}

func SyrkWideOn(p Path, dst Matrix[float64], a Matrix[float32]) {
	multiply(p, dst, a, a, true)
}

// ExpOn sets dst[i] to e^x[i] on a path, within 2 units in the last place. Overflow is +Inf,
// underflow goes through the subnormal numbers to 0.
func ExpOn[T Float](p Path, dst, x []T) {
	e := simd.ElementwiseOf[T](p)
	fill(e.Vector, dst, x, e.Exp)
}

func RBFOn[T Float](p Path, dst, xz []T, xx T, zz []T, gamma T) {
	rbfOn(p, dst, xz, xx, zz, gamma)
}

func NarrowOn(p Path, dst []float32, src []float64) { narrow(p, dst, src) }

func FirstNotFiniteOn[T Float](p Path, v []T) int { return firstNotFinite(p, v) }

func CosOn[T Float](p Path, dst, x []T) { cosOn(p, dst, x) }

func LaplacianOn[T Float](p Path, dst, xz []T, xx T, zz []T, gamma T) {
	laplacianOn(p, dst, xz, xx, zz, gamma)
}

func Matern32On[T Float](p Path, dst, xz []T, xx T, zz []T, lengthScale T) {
	matern32On(p, dst, xz, xx, zz, lengthScale)
}

func Matern52On[T Float](p Path, dst, xz []T, xx T, zz []T, lengthScale T) {
	matern52On(p, dst, xz, xx, zz, lengthScale)
}

func RationalQuadraticOn[T Float](p Path, dst, xz []T, xx T, zz []T, lengthScale, alpha T) {
	rationalOn(p, dst, xz, xx, zz, lengthScale, alpha)
}

func PolynomialOn[T Float](p Path, dst, xz []T, gamma, coef0 T, degree int) {
	polynomialOn(p, dst, xz, gamma, coef0, degree)
}

func FWHTOn[T Float](p Path, x []T, signs []int8, scale T) { fwhtOn(p, x, signs, scale) }

func SMOMoveOn[T Float](p Path, f []float64, a float64, x []T, b float64, y []T, place []uint8) Extremes {
	return smoMove(p, f, a, x, b, y, place)
}

func SMOPartnerOn[T Float](p Path, f, diagonal []float64, row []T, place []uint8, fi, kii, tau float64) Partner {
	return smoPartner(p, f, diagonal, row, place, fi, kii, tau)
}

func ReflectOn(p Path, m Matrix[float64], signs []int8, vectors [][]float64, beta []float64) {
	reflectOn(p, m, signs, vectors, beta)
}

func ScatterOn(p Path, to, from []float64, places []uint32, scale float64) {
	scatterOn(p, to, from, places, scale)
}

func FWHTScatterOn(p Path, to, from []float64, places []uint32, scale float64) {
	fwhtScatterOn(p, to, from, places, scale)
}

func DeinterleaveOn(p Path, m Matrix[float64], from []float64) { deinterleaveOn(p, m, from) }

func SignRowsOn(p Path, x []float64, signs []int8, scale float64) { signRowsOn(p, x, signs, scale) }

func CopyStripsOn(p Path, n int, to, from Strips) { copyStripsOn(p, n, to, from) }

func FWHTCollectOn(p Path, near []float64, far Strips, ahead *Ahead) {
	fwhtCollectOn(p, near, far, ahead)
}

func FWHTSpreadOn(p Path, far Strips, near []float64, ahead *Ahead) {
	fwhtSpreadOn(p, far, near, ahead)
}

func FWHTColumnsOn(p Path, x []float64, q int) { fwhtColumnsOn(p, x, q) }
