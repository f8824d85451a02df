package feature_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

func Example() {
	w := linalg.New[float64](1<<14, 1)
	feature.Gaussian(w, 0, 0.5, func(i int) feature.Normals { return rand.New(rand.NewPCG(uint64(i), 1)) })
	m := feature.Map{Directions: w}
	x := linalg.Matrix[float64]{Rows: 2, Cols: 1, Stride: 1, Data: []float64{0, 1}}
	phi := linalg.New[float64](2, m.Len())
	m.Rows(phi, x)
	k := linalg.New[float64](2, 2)
	linalg.Syrk(k, phi)
	fmt.Println(math.Abs(k.Data[1]/(1<<14)-math.Exp(-0.5)) < 0.02)
	// Output: true
}
