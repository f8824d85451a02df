package bundled_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/dataset/bundled"
)

func Example() {
	for _, name := range bundled.Names() {
		set, err := bundled.Load(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, set.X.Rows(), "rows of", set.X.Cols(), "columns")
	}
	// Output:
	// digits 1797 rows of 64 columns
	// wdbc 569 rows of 30 columns
}
