package feature

import (
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// Normals gives independent standard normal numbers.
type Normals interface{ NormFloat64() float64 }

// Source gives the numbers that a direction is drawn from: always the same ones
// for the same direction. Several goroutines call it at the same time.
type Source func(direction int) Normals

// Gaussian sets row i of dst to direction first+i of the spectrum of the rbf
// kernel exp(-gamma |x-z|^2): w ~ N(0, 2 gamma I). dst is directions x columns.
func Gaussian(dst linalg.Matrix[float64], first int, gamma float64, source Source) {
	deviation := math.Sqrt(2 * gamma)
	draw(dst, first, source, func(Normals) float64 { return deviation })
}

// Laplace is Gaussian for the laplacian kernel exp(-gamma |x-z|), the distance
// not squared. Its spectrum is the Cauchy distribution of several variables: a
// normal vector over the absolute value of one more normal number.
func Laplace(dst linalg.Matrix[float64], first int, gamma float64, source Source) {
	draw(dst, first, source, func(n Normals) float64 {
		u := n.NormFloat64()
		for u == 0 {
			u = n.NormFloat64()
		}
		return gamma / math.Abs(u)
	})
}

// draw makes normal rows, each times a factor that is drawn before it.
func draw(dst linalg.Matrix[float64], first int, source Source, factor func(Normals) float64) {
	const grain = 1 << 12 // numbers that one core draws at a time
	linalg.For(dst.Rows, max(1, grain/max(1, dst.Cols)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			n := source(first + i)
			scale, row := factor(n), dst.Row(i)
			for j := range row {
				row[j] = float64(scale * n.NormFloat64())
			}
		}
	})
}
