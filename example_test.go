package mercer_test

import (
	"bytes"
	"fmt"

	"github.com/mercer-fl/mercer"
)

func Example() {
	rows := [][]float64{{1, 2}, {2, 1}, {8, 9}, {9, 8}}
	labels := []string{"low", "low", "high", "high"}
	model, err := mercer.Fit(rows, labels, mercer.SVC{C: 10}, mercer.RBF{Gamma: 0.5})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Predict([][]float64{{0, 1}, {9, 9}}))
	// Output: [low high] <nil>
}

// A Gaussian process says how far a prediction may be off: little between the training
// rows, and more beside them.
func ExampleFitNumbers() {
	hours, degrees := [][]float64{{0}, {3}, {6}, {9}, {12}}, []float64{4, 3, 7, 12, 15}
	model, err := mercer.FitNumbers(hours, degrees, mercer.GP{Noise: 0.01}, mercer.RBF{})
	if err != nil {
		fmt.Println(err)
		return
	}
	decisions, err := model.Decisions([][]float64{{7}, {20}})
	for _, d := range decisions {
		fmt.Printf("%.1f degrees, deviation %.1f\n", d[0], d[1])
	}
	fmt.Println(err)
	// Output:
	// 8.7 degrees, deviation 0.7
	// 8.4 degrees, deviation 4.6
	// <nil>
}

// A model's file is read back by this package and by mercer predict.
func ExampleModel_Save() {
	model, err := mercer.Fit([][]float64{{1}, {2}, {8}, {9}}, nil, mercer.KMeans{Clusters: 2}, mercer.Linear{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var file bytes.Buffer
	if err := model.Save(&file); err != nil {
		fmt.Println(err)
		return
	}
	again, err := mercer.Load(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(again.Predict([][]float64{{0}, {10}}))
	// Output: [0 1] <nil>
}
