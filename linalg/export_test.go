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
