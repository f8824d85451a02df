package tune_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/learn/tune"
	"github.com/mercer-fl/mercer/linalg"
)

// Numbers between -1 and 1 are one class, those outside another: no plane tells them
// apart, and an RBF kernel does.
func Example() {
	x := linalg.Matrix[float64]{Rows: 8, Cols: 1, Stride: 1, Data: []float64{-3, -0.5, 0.5, 3, -4, -0.2, 0.2, 4}}
	var kernels []kernel.Kernel
	for _, spec := range []kernel.Spec{{Name: "linear"}, {Name: "rbf", Gamma: 1}} {
		k, err := kernel.New(spec)
		if err != nil {
			fmt.Println(err)
			return
		}
		kernels = append(kernels, k)
	}
	codes, params := []int{1, 0, 0, 1, 1, 0, 0, 1}, []svm.Params{{C: 1}, {C: 10}}
	search := tune.Search{
		Kernels: kernels,
		Folds:   []tune.Fold{{Train: []int{0, 1, 2, 3}, Test: []int{4, 5, 6, 7}}, {Train: []int{4, 5, 6, 7}, Test: []int{0, 1, 2, 3}}},
		Learner: tune.SVC{Codes: codes, Classes: []string{"inside", "outside"}, Params: params},
	}
	result, err := search.Run(kernel.LinearGram(x))
	if err != nil {
		fmt.Println(err)
		return
	}
	best := result.Cells[result.Best]
	fmt.Println(kernels[best.Kernel].Name(), params[best.Setting].C, best.Correct, "of 8")
	// Output: rbf 1 8 of 8
}
