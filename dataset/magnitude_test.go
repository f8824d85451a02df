package dataset

import (
	"testing"
)

// The first number that is too large is named with its row and its column, wherever it stands.
func TestCheckMagnitude(t *testing.T) {
	good := &Set{Name: "good.csv", X: denseOf([][]float64{{1, -MaxMagnitude}, {0, 2}})}
	bad := &Set{Name: "bad.csv", X: denseOf([][]float64{{1, 2}, {3, -1.7976931348623157e308}}), Columns: []string{"age", "height"}}
	bare := &Set{Name: "bare.svm", X: denseOf([][]float64{{1e141, 2}})}
	lined := &Set{Name: "lined.csv", X: denseOf([][]float64{{1}, {-2e140}}), Columns: []string{"b"}, Lines: []int{2, 4}}
	for want, sets := range map[string][]*Set{
		"": {good, nil},
		`bad.csv: row 2, column "height" holds -1.7976931348623157e+308, which is above 1e+140 in magnitude, the largest number for training; correct the cell, or mark it as missing`: {nil, good, bad},
		"bare.svm: row 1, column 1 holds 1e+141, which is above 1e+140 in magnitude, the largest number for training; correct the cell, or mark it as missing":                         {bare, bad},
		`lined.csv:4: column "b" holds -2e+140, which is above 1e+140 in magnitude, the largest number for training; correct the cell, or mark it as missing`:                          {lined},
	} {
		got := ""
		if err := CheckMagnitude(sets...); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
