package linalg

// Paths by force, for tests.

func SquaredNormsOn[T Float](p Path, dst []float64, a Matrix[T]) {
	squaredNorms(microOf[float64](p), dst, a)
}

func MulTransBWideOn(p Path, dst Matrix[float64], a, b Matrix[float32]) {
	multiply(microOf[float64](p), dst, a, b, false)
}

func SyrkWideOn(p Path, dst Matrix[float64], a Matrix[float32]) {
	multiply(microOf[float64](p), dst, a, a, true)
}

func ExpOn(p Path, dst, x []float64) { expOn(p, dst, x) }

func RBFOn(p Path, dst, xz []float64, xx float64, zz []float64, gamma float64) {
	rbfOn(p, dst, xz, xx, zz, gamma)
}

func FWHTOn[T Float](p Path, x []T) { transform(butterfliesOf[T](p), x) }
