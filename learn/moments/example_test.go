package moments_test

import (
	"fmt"
	"math/rand/v2"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/linalg"
)

// Which points lie in the disc of radius 1?
func Example() {
	r := rand.New(rand.NewPCG(1, 2))
	points, codes := linalg.New[float64](2000, 2), make([]int, 2000)
	for i := range codes {
		x, y := 4*r.Float64()-2, 4*r.Float64()-2
		copy(points.Row(i), []float64{x, y})
		if x*x+y*y < 1 {
			codes[i] = 1
		}
	}
	w := linalg.New[float64](50, 2)
	feature.Gaussian(w, 0, 0.5, func(i int) feature.Normals { return rand.New(rand.NewPCG(uint64(i), 3)) })
	m := feature.Map{Directions: w}

	sums, err := moments.Summarize(m, points.Panel(0, 1500), moments.Classes{Codes: codes[:1500], Count: 2})
	if err != nil {
		panic(err)
	}
	solution, err := moments.Solve(sums, 0.01)
	if err != nil {
		panic(err)
	}
	correct, err := moments.Correct(m, solution, points.Panel(1500, 2000), codes[1500:])
	if err != nil {
		panic(err)
	}
	fmt.Println(correct > 480)
	// Output: true
}
