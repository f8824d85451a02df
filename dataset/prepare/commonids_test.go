package prepare

import (
	"slices"
	"testing"
)

// The steps make most ids common, are the weakest of the list, and make no two ids of a table equal.
func TestCommonIDs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		one, other    []string
		common, alike int
		steps         []string
	}{
		"equal":             {[]string{"C1", "C2"}, []string{"C2", "C1"}, 2, 2, nil},
		"case":              {[]string{"C1", "C2", "x"}, []string{"c1", "c2", "y"}, 0, 2, []string{"lower"}},
		"blanks":            {[]string{"C1", "C2"}, []string{" C1", "C2 "}, 0, 2, []string{"trim"}},
		"both":              {[]string{"C1", "C2", "C3"}, []string{" c1", "C2 ", "C3"}, 1, 3, []string{"trim", "lower"}},
		"Unicode form":      {[]string{"\u00e4"}, []string{"a\u0308"}, 0, 1, []string{"nfc", "trim", "lower"}},
		"two become one":    {[]string{"a1", "A1"}, []string{"A1", "b"}, 1, 1, nil},
		"nothing remains":   {[]string{"C1", " "}, []string{"C1 "}, 0, 0, nil},
		"joined columns":    {[]string{"A\x1fB"}, []string{"a\x1fb"}, 0, 1, []string{"lower"}},
		"blanks inside":     {[]string{"A \x1fB"}, []string{"A\x1f B"}, 0, 1, []string{"trim"}},
		"different persons": {[]string{"C1"}, []string{"D1"}, 0, 0, nil},
	} {
		common, alike, steps := CommonIDs([][]string{c.one, c.other})
		if common != c.common || alike != c.alike || !slices.Equal(steps, c.steps) {
			t.Errorf("%s: got %d, %d, %v", name, common, alike, steps)
		}
	}
}
