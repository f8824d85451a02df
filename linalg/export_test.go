package linalg

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

func ExpOn[T Float](p Path, dst, x []T) { expOn(p, dst, x) }

func RBFOn[T Float](p Path, dst, xz []T, xx T, zz []T, gamma T) {
	rbfOn(p, dst, xz, xx, zz, gamma)
}

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

func FlipOn[T Float](p Path, x []T, signs []int8) { flipOn(p, x, signs) }

func ReflectOn(p Path, m Matrix[float64], signs []int8, vectors [][]float64, beta []float64) {
	reflectOn(p, m, signs, vectors, beta)
}

func AddWordsOn(p Path, dst []uint64, src []byte) { addWordsOn(p, dst, src) }

func SubtractWordsOn(p Path, dst []uint64, src []byte) { subtractWordsOn(p, dst, src) }

// RoundTurnsOn is RoundTurns by a given path.
func RoundTurnsOn(p Path, dst []byte, turns []float64, bits int) { roundTurnsOn(p, dst, turns, bits) }

// WavesOn is Waves by a given path.
func WavesOn(p Path, cosines, sines []float32, words []byte, bits int, amplitude float32) bool {
	return wavesOn(p, cosines, sines, words, bits, amplitude)
}

func ScatterOn(p Path, to, from []float64, places []uint32, scale float64) {
	scatterOn(p, to, from, places, scale)
}

func FWHTScatterOn(p Path, to, from []float64, places []uint32, scale float64) {
	fwhtScatterOn(p, to, from, places, scale)
}

func FallInOn(p Path, m Matrix[float64], from []float64) { fallInOn(p, m, from) }

func TurnRowsOn(p Path, x []float64, signs []int8, scale float64) { turnRowsOn(p, x, signs, scale) }

func CopyStripsOn(p Path, n int, to, from Strips) { copyStripsOn(p, n, to, from) }

func FWHTCollectOn(p Path, near []float64, far Strips, ahead *Ahead) {
	fwhtCollectOn(p, near, far, ahead)
}

func FWHTSpreadOn(p Path, far Strips, near []float64, ahead *Ahead) {
	fwhtSpreadOn(p, far, near, ahead)
}

func FWHTColumnsOn(p Path, x []float64, q int) { fwhtColumnsOn(p, x, q) }

// Transposers are through the caches and past them; Side is of their squares.
func Transposers[T Float](p Path) [2]func(n int, to []T, toDistance, toStep int, from []T, fromDistance, fromStep int) {
	through, past := transposersOf[T](p)
	return [2]func(n int, to []T, toDistance, toStep int, from []T, fromDistance, fromStep int){through.squares, past.squares}
}

func Side[T Float](p Path) int {
	t, _ := transposersOf[T](p)
	return t.side
}

func PickValuesAwayOn(p Path, to, from []float64, places []uint32, ahead []float64) {
	pickValuesAwayOn(p, to, from, places, ahead)
}

func PickValuesOn(p Path, to, from []float64, places []uint32, ahead []float64) {
	pickValuesOn(p, to, from, places, ahead)
}
