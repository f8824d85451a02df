package examples_test

import (
	"fmt"
	"strings"

	"github.com/mercer-fl/mercer/examples"
)

func ExampleRead() {
	job, err := examples.Read("wdbc")
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(string(job)) {
		if strings.HasPrefix(line, "kind:") {
			fmt.Print(line)
		}
	}
	// Output: kind: Job
}
