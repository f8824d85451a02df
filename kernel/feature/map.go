package feature

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// Map computes the random features of rows for given directions: first the cosines of all
// directions, then the sines.
type Map struct {
	Directions linalg.Matrix[float64] // directions x columns
}

// Len returns the number of features, which is two for each direction.
func (m Map) Len() int { return 2 * m.Directions.Rows }

// Width returns the number of columns of the input rows.
func (m Map) Width() int { return m.Directions.Cols }

// Rows sets row i of dst to the features of row i of x, on all cores. dst is n x Len(), and x is n
// x Width(). It panics on other shapes.
func (m Map) Rows(dst, x linalg.Matrix[float64]) {
	m.check(dst.Rows, dst.Cols, x)
	half := m.Directions.Rows
	phases := linalg.Matrix[float64]{Rows: dst.Rows, Cols: half, Stride: dst.Stride, Data: dst.Data}
	linalg.MulTransB(phases, x, m.Directions)
	linalg.For(dst.Rows, grain(half), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := dst.Row(i)
			waves(row[:half], row[half:])
		}
	})
}

// Columns is like [Map.Rows], but writes the transpose, which is Len() x n. A product that
// sums over rows, such as a matrix of second moments, is fast with the transpose.
func (m Map) Columns(dst, x linalg.Matrix[float64]) {
	m.check(dst.Cols, dst.Rows, x)
	half := m.Directions.Rows
	linalg.MulTransB(dst.Panel(0, half), m.Directions, x)
	linalg.For(half, grain(dst.Cols), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			waves(dst.Row(i), dst.Row(half+i))
		}
	})
}

// far is the magnitude from which waves takes phases modulo 2 pi. Below it, the phase less pi/2 is rounded by
// less than 10^-12, and so the squares of cosine and sine add up to 1 but for that. Above 2^54 the phase less
// pi/2 would be the phase itself, and the sine a second cosine, so that a row could have twice the squared length.
const far = 1 << 12

// waves replaces the phases by their cosines and sets sines to the sines of the phases.
func waves(phases, sines []float64) {
	for i, p := range phases {
		if math.Abs(p) >= far {
			p = math.Mod(p, 2*math.Pi)
			phases[i] = p
		}
		sines[i] = p - math.Pi/2
	}
	linalg.Cos(sines, sines)
	linalg.Cos(phases, phases)
}

// grain returns the number of slices of the given length that one core handles at a time.
func grain(length int) int { return max(1, 1<<14/max(1, length)) }

func (m Map) check(n, features int, x linalg.Matrix[float64]) {
	if n != x.Rows || features != m.Len() || x.Cols != m.Width() {
		panic(fmt.Sprintf("feature: a matrix of %d x %d cannot hold %d features of each row of %d x %d", n, features, m.Len(), x.Rows, x.Cols))
	}
}
