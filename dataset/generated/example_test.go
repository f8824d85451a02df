package generated_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/generated"
)

func ExampleClouds() {
	set, err := generated.Clouds(1000, 100)
	if err != nil {
		fmt.Println(err)
		return
	}
	classes, _ := dataset.Classes(set.Labels)
	fmt.Println(set.X.Rows(), set.X.Cols(), len(classes))
	// Output: 1000 100 2
}

func ExampleBells() {
	set, err := generated.Bells(1000, 200, .05)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, sparse := set.X.(*dataset.CSR)
	fmt.Println(set.X.Rows(), set.X.Cols(), sparse)
	// Output: 1000 200 true
}
