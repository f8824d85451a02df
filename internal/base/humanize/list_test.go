package humanize

import (
	"strconv"
	"testing"
)

func TestList(t *testing.T) {
	for want, items := range map[string][]int{
		"":                    nil,
		"1":                   {1},
		"1, 2, 3":             {1, 2, 3},
		"1, 2, 3, and 2 more": {1, 2, 3, 4, 5},
	} {
		if got := List(items, 3, strconv.Itoa); got != want {
			t.Errorf("%v: %q, want %q", items, got, want)
		}
	}
}
