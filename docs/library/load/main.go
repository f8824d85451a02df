// Load reads the model file beside it and predicts two rows.
package main

import "fmt"
import "os"
import "github.com/mercer-fl/mercer"

func main() {
	file, err := os.Open("model.mercer")
	if err != nil {
		panic(err)
	}
	model, err := mercer.Load(file)
	if err != nil {
		panic(err)
	}
	fmt.Println(model.Predict([][]float64{{0, 1}, {9, 9}}))
	// Output: [low high] <nil>
}
