package dataset_test

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/dataset"
)

func ExampleRead() {
	file := strings.NewReader("age,pressure,label\n61,140,ill\n48,,well\n")
	_, err := dataset.Read("heart.csv", file, dataset.Options{})
	fmt.Println(err)
	// Output: heart.csv:3: column "pressure" is empty; fill the cell or drop the row
}

func ExampleSplit() {
	labels := []string{"ill", "well", "well", "ill", "well", "well", "ill", "well"}
	train, test, err := dataset.Split(labels, 0.25, 1)
	fmt.Println(len(train), len(test), err)
	// Output: 6 2 <nil>
}
