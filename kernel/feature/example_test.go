package feature_test

import (
	"encoding/binary"
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

// Two parties hold a column each. The sum of their phases gives the kernel of
// both columns.
func ExamplePhases() {
	const directions, bits = 1 << 14, 16
	rows, sum := []int{0, 1}, make([]uint16, 2*directions)
	for party := range 2 {
		d := feature.Directions{Spectrum: feature.RBF(0.5), Columns: 1, Entries: func(block, _ int) feature.Numbers {
			return rand.New(rand.NewPCG(uint64(block), uint64(party)))
		}}
		own := linalg.Matrix[float64]{Rows: 2, Cols: 1, Stride: 1, Data: []float64{0, 1}}
		words := make([]byte, len(sum)*bits/8)
		feature.NewPhases(own, d, bits).Block(words, rows, 0, directions)
		for i := range sum {
			sum[i] += binary.LittleEndian.Uint16(words[2*i:])
		}
	}
	k := 0.0
	for i := range directions {
		turns := float64(sum[i]-sum[directions+i]) / (1 << bits)
		k += math.Cos(2*math.Pi*turns) / directions
	}
	fmt.Println(math.Abs(k-math.Exp(-1)) < 0.02)
	// Output: true
}
