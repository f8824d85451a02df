package cli

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/node/admin"
)

// One column never mixes lines with positions.
func TestHeldOutRowsAreNamedInOneWay(t *testing.T) {
	shares := []partition.Share{{Party: "north"}, {Party: "south"}}
	outcome := &method.Outcome{Truth: []string{"a", "b"}}
	for want, lines := range map[string][]int{"line": {7, 9}, "row": nil} {
		splits := []method.Split{
			{Set: &dataset.Set{Labels: []string{"a", "b"}, Lines: []int{2, 5}}, Test: []bool{true, false}},
			{Set: &dataset.Set{Labels: []string{"a", "b"}, Lines: lines}, Test: []bool{false, true}},
		}
		s := &sheet{rows: make([][]string, 2)}
		rowNamer(shares, splits, outcome)(s)
		rows := map[string][][]string{"line": {{"north", "2"}, {"south", "9"}}, "row": {{"north", "1"}, {"south", "2"}}}[want]
		if diff := cmp.Diff(sheet{[]string{"party", want}, rows}, *s, cmp.AllowUnexported(sheet{})); diff != "" {
			t.Error(diff)
		}
	}
}

// The advice names only columns that the table has.
func TestAdviceOnTheTable(t *testing.T) {
	classes, numbers := admin.Prediction{Learner: "svc"}, admin.Prediction{Learner: "ridge"}
	for _, tt := range []struct {
		r    predictResult
		want string
	}{
		{predictResult{Prediction: classes, lines: []int{2}}, "notice: --csv prints a table with the line of each row and its scores; --id COLUMN names rows by their ids"},
		{predictResult{Prediction: numbers, lines: []int{2}}, "notice: --csv prints a table with the line of each row; --id COLUMN names rows by their ids"},
		{predictResult{Prediction: classes, lines: []int{2}, IDs: []string{"a"}}, "notice: --csv prints a table with the scores of each row"},
		{predictResult{Prediction: classes}, "notice: --csv prints a table with the scores of each row"}, // images, for example, have neither lines nor ids
		{predictResult{Prediction: numbers}, ""},
	} {
		if got := tt.r.tableAdvice(); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// A score of minus zero is printed as 0.
func TestNumeral(t *testing.T) {
	for v, want := range map[float64]string{math.Copysign(0, -1): "0", -.5: "-0.5", 1e300: "1e+300"} {
		if got := numeral(v); got != want {
			t.Errorf("%v: %s", v, got)
		}
	}
}
