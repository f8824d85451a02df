package feature

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// Mapping computes features of rows: a [Map] or a [Linear].
type Mapping interface {
	// Len returns the number of features, and Width the number of columns of the rows.
	Len() int
	Width() int
	// Rows sets row i of dst (n x Len) to the features of row i of x (n x Width). Columns writes the
	// transpose. Both panic on other shapes.
	Rows(dst, x linalg.Matrix[float64])
	Columns(dst, x linalg.Matrix[float64])
}

// Linear has the columns themselves as features, and a constant last. With Bound b, a public number above 0,
// it maps a row x to
//
//	phi(x) = (sqrt(.9) x / max(b, |x|), sqrt(.1))
//
// A row that is longer than the bound is shortened to it, so that |phi| <= 1 for every row: no row has more
// influence on sums of features than the bound allows. Rounding can make phi longer than 1 by 10^-15.
type Linear struct {
	Inputs int     // number of columns of the rows
	Bound  float64 // the greatest Euclidean length of rows that are not shortened
}

// constantShare is the constant's part of the greatest squared length of phi.
const constantShare = .1

// Factors returns sqrt(.9), the factor of the shortened row, and sqrt(.1), the last feature.
func (l Linear) Factors() (row, constant float64) {
	return math.Sqrt(1 - constantShare), math.Sqrt(constantShare)
}

// Len returns the number of features: one for each column, and the constant.
func (l Linear) Len() int { return l.Inputs + 1 }

// Width returns the number of columns of the input rows.
func (l Linear) Width() int { return l.Inputs }

// Rows sets row i of dst to the features of row i of x, on all cores. dst is n x Len(), and x is n x Width().
// It panics on other shapes.
func (l Linear) Rows(dst, x linalg.Matrix[float64]) {
	l.check(dst.Rows, dst.Cols, x)
	scales := l.scales(x)
	linalg.Each(x.Rows, grain(l.Inputs), func(i int) {
		to := dst.Row(i)
		for j, v := range x.Row(i) {
			to[j] = scales[i] * v
		}
		_, to[l.Inputs] = l.Factors()
	})
}

// Columns is like [Linear.Rows], but writes the transpose, which is Len() x n.
func (l Linear) Columns(dst, x linalg.Matrix[float64]) {
	l.check(dst.Cols, dst.Rows, x)
	scales := l.scales(x)
	linalg.Each(l.Inputs, grain(dst.Cols), func(j int) {
		to := dst.Row(j)
		for i := range to {
			to[i] = scales[i] * x.Row(i)[j]
		}
	})
	constant := dst.Row(l.Inputs)
	for i := range constant {
		_, constant[i] = l.Factors()
	}
}

// scales returns the factor of each row. It makes a feature NaN in each row that has a NaN or an
// infinity.
func (l Linear) scales(x linalg.Matrix[float64]) []float64 {
	scales := make([]float64, x.Rows)
	linalg.SquaredNorms(scales, x)
	row, _ := l.Factors()
	for i, v := range scales {
		scales[i] = row / max(l.Bound, math.Sqrt(v))
	}
	return scales
}

func (l Linear) check(n, features int, x linalg.Matrix[float64]) {
	if n != x.Rows || features != l.Len() || x.Cols != l.Inputs || !(l.Bound > 0) {
		panic(fmt.Sprintf("feature: a matrix of %d x %d cannot hold %d features of each row of %d x %d with the bound %v", n, features, l.Len(), x.Rows, x.Cols, l.Bound))
	}
}
