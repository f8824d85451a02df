package model_test

import (
	"bytes"
	"fmt"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// A classifier becomes a file, which is read back and predicts a new row.
func Example() {
	x := linalg.Matrix[float64]{Rows: 4, Cols: 1, Stride: 1, Data: []float64{1, 2, 8, 9}}
	c, err := svm.TrainSVC(kernel.Dense{K: kernel.LinearGram(x)}, []int{0, 0, 1, 1}, []string{"low", "high"}, svm.DefaultParams(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := model.New(kernel.Spec{Name: "linear"}, nil, linalg.Pick(x, c.Support()), model.Voters(model.SVC, c.Compact(), nil))
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := model.Encode(&file, m); err != nil {
		fmt.Println(err)
		return
	}
	read, err := model.Open(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	decisions, err := read.Decisions(linalg.Matrix[float64]{Rows: 1, Cols: 1, Stride: 1, Data: []float64{7}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(read.Kind(), read.Output().Predict(decisions))
	// Output: svc [high]
}
