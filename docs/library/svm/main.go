// Svm trains a support vector machine on four rows and predicts two others.
package main

import "fmt"
import "github.com/mercer-fl/mercer"

func main() {
	rows := [][]float64{{1, 2}, {2, 1}, {8, 9}, {9, 8}}
	labels := []string{"low", "low", "high", "high"}
	model, err := mercer.Fit(rows, labels, mercer.SVC{C: 10}, mercer.RBF{})
	if err != nil {
		panic(err)
	}
	fmt.Println(model.Predict([][]float64{{0, 1}, {9, 9}}))
	// Output: [low high] <nil>
}
