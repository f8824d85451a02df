package mercer_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
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

// Each fold is scaled by its own training rows, so that no test row influences its prediction.
func ExampleCrossValidate() {
	set, err := bundled.Load("wdbc")
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := mercer.TableRows(set.X)
	for _, c := range []float64{0.1, 1, 10} {
		v, err := mercer.CrossValidate(rows, set.Labels, mercer.SVC{C: c}, mercer.Standard{Kernel: mercer.RBF{}}, mercer.Folds{Count: 5})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("C %g: accuracy %.3f, deviation %.3f\n", c, v.Mean, v.Deviation)
	}
	// Output:
	// C 0.1: accuracy 0.944, deviation 0.007
	// C 1: accuracy 0.974, deviation 0.015
	// C 10: accuracy 0.975, deviation 0.010
}

func ExampleModel_Score() {
	rows, labels := [][]float64{{1, 2}, {2, 1}, {8, 9}, {9, 8}}, []string{"low", "low", "high", "high"}
	model, err := mercer.Fit(rows, labels, mercer.SVC{}, mercer.RBF{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(model.Score([][]float64{{0, 1}, {9, 9}, {7, 7}, {2, 3}}, []string{"low", "high", "high", "high"}))
	// Output: 0.75 <nil>
}

func ExampleModel_ScoreNumbers() {
	hours, degrees := [][]float64{{0}, {3}, {6}, {9}, {12}}, []float64{4, 3, 7, 12, 15}
	model, err := mercer.FitNumbers(hours, degrees, mercer.SVR{C: 100, Epsilon: mercer.Zero}, mercer.RBF{})
	if err != nil {
		fmt.Println(err)
		return
	}
	score, err := model.ScoreNumbers([][]float64{{4}, {7}, {10}}, []float64{4, 9, 13})
	fmt.Printf("R2 %.2f %v\n", score, err)
	// Output: R2 0.99 <nil>
}

func ExampleModel_Probabilities() {
	set, err := bundled.Load("wdbc")
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := mercer.TableRows(set.X)
	model, err := mercer.Fit(rows[3:], set.Labels[3:], mercer.SVC{Probability: true}, mercer.Standard{Kernel: mercer.RBF{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	probabilities, err := model.Probabilities(rows[:3])
	fmt.Printf("%v %.2f %v\n", model.Classes(), probabilities, err)
	// Output: [0 1] [[0.97 0.03] [1.00 0.00] [1.00 0.00]] <nil>
}

func ExampleTableRows() {
	set, err := dataset.ReadCSV(strings.NewReader("hours,degrees\n1,4\n3,7\n"), dataset.CSVOptions{Label: "degrees"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(mercer.TableRows(set.X), set.Labels)
	// Output: [[1] [3]] [4 7]
}
