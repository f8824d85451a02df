package linear_test

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
)

// Which points lie in the disc of radius 1?
func Example() {
	const n, directions, bits = 2000, 100, 16
	r := rand.New(rand.NewPCG(1, 2))
	points, targets := linalg.New[float64](n, 2), linalg.New[float64](1, n)
	rows := make([]int, n)
	for i := range rows {
		x, y := 4*r.Float64()-2, 4*r.Float64()-2
		copy(points.Row(i), []float64{x, y})
		rows[i], targets.Data[i] = i, linear.Sign(1-x*x-y*y)
	}
	d := feature.Directions{Spectrum: feature.RBF(0.5), Columns: 2, Entries: func(block, column int) feature.Numbers {
		return rand.New(rand.NewPCG(uint64(block), uint64(column)))
	}}
	words := make([]byte, n*directions*bits/8)
	feature.NewPhases(points, d, bits).Block(words, rows, 0, directions)
	table := linear.NewPhases[float32](n, directions, bits)
	table.Put(words, 0, n, 0, directions)

	f, err := linear.Fit(table, targets, linear.Params{Loss: linear.Logistic{}, Lambda: 1e-6})
	if err != nil && !errors.Is(err, linear.ErrNotConverged) {
		panic(err)
	}
	right := 0
	for i, u := range f.Decisions.Data {
		if linear.Sign(u) == targets.Data[i] {
			right++
		}
	}
	fmt.Println(right > 1980)
	// Output: true
}
