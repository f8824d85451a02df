// Validate estimates the accuracy of a support vector machine by cross-validation.
package main

import "fmt"
import "github.com/mercer-fl/mercer"
import "github.com/mercer-fl/mercer/dataset/bundled"

func main() {
	tumours, err := bundled.Load("wdbc")
	if err != nil {
		panic(err)
	}
	rows, kernel := mercer.TableRows(tumours.X), mercer.Standard{Kernel: mercer.RBF{}}
	for _, c := range []float64{0.1, 1, 10} {
		v, err := mercer.CrossValidate(rows, tumours.Labels, mercer.SVC{C: c}, kernel, mercer.Folds{Count: 5})
		if err != nil {
			panic(err)
		}
		fmt.Printf("C %g: accuracy %.3f, deviation %.3f\n", c, v.Mean, v.Deviation)
	}
	// Output:
	// C 0.1: accuracy 0.944, deviation 0.007
	// C 1: accuracy 0.974, deviation 0.015
	// C 10: accuracy 0.975, deviation 0.010
}
