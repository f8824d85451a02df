package onnx_test

import (
	"bytes"
	"fmt"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
	"github.com/mercer-fl/mercer/model/onnx"
)

// A regression with one support vector becomes a graph that computes exp(-|x - v|^2 / 2).
func ExampleEncode() {
	vector := linalg.Matrix[float64]{Rows: 1, Cols: 2, Stride: 2, Data: []float64{0.5, -1}}
	head := model.Head{Output: model.Output{Kind: model.SVR}, Functions: []model.Function{model.Dense([]float64{1}, 0)}}
	m, err := model.New(kernel.Spec{Name: "rbf", Gamma: 0.5}, nil, vector, head)
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := onnx.Encode(&file, m, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(bytes.Contains(file.Bytes(), []byte("Exp")))
	// Output: true
}
