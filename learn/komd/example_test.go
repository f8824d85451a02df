package komd_test

import (
	"fmt"

	"github.com/mercer-fl/mercer/learn/komd"
)

// Those who liked item 0 liked item 1, too. Who likes 0 is recommended 1 first.
func Example() {
	counts := komd.CountsOf(4, [][]int{{0, 1}, {0, 1}, {0, 1, 2}, {2, 3}, {2, 3}})
	k, err := komd.Spec{Name: komd.Linear}.Kernel(counts)
	if err != nil {
		fmt.Println(err)
		return
	}
	ranking, err := komd.New(k).Rank([]int{0}, komd.DefaultLambda)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, item := range ranking {
		fmt.Print(item.Index, " ")
	}
	// Output: 1 2 3
}
