package kmeans_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/kmeans"
	"github.com/mercer-fl/mercer/linalg"
)

func Example() {
	x := linalg.Matrix[float64]{Rows: 4, Cols: 1, Stride: 1, Data: []float64{1, 2, 8, 9}}
	m, err := kmeans.Fit(kernel.Dense{K: kernel.LinearGram(x)}, kmeans.Params{Clusters: 2, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	added := linalg.Matrix[float64]{Rows: 2, Cols: 1, Stride: 1, Data: []float64{0, 7}}
	fmt.Println(m.Assignment, m.Inertia, m.Predict(kernel.CrossGram(added, x)))
	// Output: [0 0 1 1] 1 [0 1]
}
