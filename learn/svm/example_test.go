package svm_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// The four points of exclusive or, which no line separates.
func ExampleTrainSVC() {
	x := linalg.Matrix[float64]{Rows: 4, Cols: 2, Stride: 2, Data: []float64{0, 0, 0, 1, 1, 0, 1, 1}}
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	p := svm.DefaultParams()
	p.C = 10
	c, err := svm.TrainSVC(kernel.Of(kernel.LinearGram(x), k), []int{0, 1, 1, 0}, []string{"equal", "different"}, p, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	cross := kernel.CrossGram(x, x) // all four rows are support vectors
	kernel.Cross(k, cross, kernel.SquaredNorms(x), kernel.SquaredNorms(x))
	for i, code := range c.Predict(c.Decisions(cross)) {
		fmt.Println(x.Row(i), c.Classes[code])
	}
	// Output:
	// [0 0] equal
	// [0 1] different
	// [1 0] different
	// [1 1] equal
}
