package methodtest

import (
	"math"
	"math/rand/v2"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/linalg"
)

// Corners returns a table of n training rows and n/4 held-out rows for each party. Rows are points
// of the unit square. Those beyond the line from (0.2, 1) to (1, 0.2) have label high and others
// low, so that no line through 0 separates them.
func Corners(parties []string, n int) map[string]method.Table {
	tables := make(map[string]method.Table)
	for k, name := range parties {
		tables[name] = method.Table{Set: corner(uint64(2*k), n), HeldOut: corner(uint64(2*k+1), n/4)}
	}
	return tables
}

func corner(seed uint64, n int) *dataset.Set {
	r, x, labels := rand.New(rand.NewPCG(seed, 1)), linalg.New[float64](n, 2), make([]string, n)
	for i := range labels {
		x.Row(i)[0], x.Row(i)[1], labels[i] = r.Float64(), r.Float64(), "low"
		if x.Row(i)[0]+x.Row(i)[1] > 1.2 {
			labels[i] = "high"
		}
	}
	return &dataset.Set{Name: "corner", X: dataset.NewDense(x), Labels: labels}
}

// CornerAccuracy trains a ridge regression of columns and a constant on training rows of [Corners], by its normal
// equations, and returns the accuracy on held-out rows. Rows are scaled as package kernel/feature says.
func CornerAccuracy(training, held []method.Split, bound, alpha float64) float64 {
	var equations [3][4]float64
	each(training, false, bound, func(phi [3]float64, y float64) {
		for i := range 3 {
			for k, v := range append(phi[:], y) {
				equations[i][k] += phi[i] * v
			}
		}
	})
	for i := range 3 {
		equations[i][i] += alpha
	}
	w, right, all := eliminate(equations), 0., 0.
	each(held, true, bound, func(phi [3]float64, y float64) {
		all++
		if (phi[0]*w[0]+phi[1]*w[1]+phi[2]*w[2])*y > 0 {
			right++
		}
	})
	return right / all
}

// each calls use with the features of every training or held-out row, and 1 for high or -1 for low.
func each(splits []method.Split, held bool, bound float64, use func(phi [3]float64, y float64)) {
	for _, s := range splits {
		for _, i := range s.Rows(held) {
			x, y := s.Set.X.Row(i, nil), -1.
			if s.Set.Labels[i] == "high" {
				y = 1
			}
			scale := math.Sqrt(.9) / max(bound, math.Hypot(x[0], x[1]))
			use([3]float64{scale * x[0], scale * x[1], math.Sqrt(.1)}, y)
		}
	}
}

// eliminate solves three linear equations. Column 3 of the matrix holds their right sides.
func eliminate(a [3][4]float64) (w [3]float64) {
	for i := range 3 {
		for k := range 3 {
			if factor := a[k][i] / a[i][i]; k != i {
				for l := range a[k] {
					a[k][l] -= factor * a[i][l]
				}
			}
		}
	}
	for i := range 3 {
		w[i] = a[i][3] / a[i][i]
	}
	return w
}
