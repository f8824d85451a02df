package kernel

import (
	"fmt"

	"github.com/mercer-fl/mercer/linalg"
)

// LinearGram returns the inner products of the rows of x (n x f) with each
// other: n x n, exactly symmetric.
func LinearGram(x linalg.Matrix[float64]) linalg.Matrix[float64] {
	g := linalg.New[float64](x.Rows, x.Rows)
	linalg.Syrk(g, x)
	return g
}

// CrossGram returns the inner products of the rows of a (m x f) with those of
// b (n x f): m x n. It panics when the widths differ.
func CrossGram(a, b linalg.Matrix[float64]) linalg.Matrix[float64] {
	g := linalg.New[float64](a.Rows, b.Rows)
	linalg.MulTransB(g, a, b)
	return g
}

// SquaredNorms returns the inner product of each row of x with itself, bit for
// bit the diagonal of its linear Gram matrix (accumulated in float64).
func SquaredNorms[T linalg.Float](x linalg.Matrix[T]) []float64 {
	norms := make([]float64, x.Rows)
	linalg.SquaredNorms(norms, x)
	return norms
}

// mapRows is how many rows go to one core at a time.
const mapRows = 16

// Cross turns inner products into kernel values, in place and on all cores:
// xz is m x n, xx holds the m squared norms of its rows, zz the n of its
// columns. It panics on other lengths.
func Cross(k Kernel, xz linalg.Matrix[float64], xx, zz []float64) {
	if len(xx) != xz.Rows || len(zz) != xz.Cols {
		panic(fmt.Sprintf("kernel: %d and %d squared norms for %d x %d inner products", len(xx), len(zz), xz.Rows, xz.Cols))
	}
	linalg.For(xz.Rows, mapRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			k.Map(xz.Row(i), xz.Row(i), xx[i], zz)
		}
	})
}

// Normalize divides K(i, j) by sqrt(K(i, i) K(j, j)) in place, which maps the
// rows onto the unit sphere of the feature space; k is n x n. Values of new
// rows are normalised by Cross with the cosine kernel, of which xx and zz are
// then the kernel values of each row with itself.
func Normalize(k linalg.Matrix[float64]) {
	d := diagonal(k)
	Cross(pointwise{"cosine", cosine}, k, d, d)
}
