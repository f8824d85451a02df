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

func ExpOn[T Float](p Path, dst, x []T) { expOn(p, dst, x) }

func RBFOn[T Float](p Path, dst, xz []T, xx T, zz []T, gamma T) {
	rbfOn(p, dst, xz, xx, zz, gamma)
}

func FWHTOn[T Float](p Path, x []T) { transform(butterfliesOf[T](p), x) }
