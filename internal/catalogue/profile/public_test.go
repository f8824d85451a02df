package profile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/privacy"
)

// privately drafts a job with privacy of two sites with equal tables.
func privately(t *testing.T, protocol string, epsilon float64, table string) Draft {
	t.Helper()
	d := Draft{Label: "y", Protocol: protocol, Epsilon: epsilon}
	for _, name := range []string{"north", "south"} {
		d.Sites = append(d.Sites, Site{name, Suggestion{Table: profiled(t, table, Asked{Label: "y"}), Path: name + ".csv", Label: "y"}})
	}
	return d
}

// A draft with privacy gives every column it uses a range or words, and a value for gaps, that no row decides. It leaves
// out what it cannot describe so.
func TestPrivateDraft(t *testing.T) {
	table := "age,sex,smoker,seen,drug,y\n" + strings.Repeat("30,F,yes,2020-01-02,a,ill\n41.5,M,no,2021-03-04,other,well\n,F,,2022-05-06,b,well\n", 6)
	text := privately(t, "sealed", 2.5, table).Job()
	for _, line := range []string{
		"        age: {type: number, range: [0, 50], outside: clip, missing: 25} # write the possible range",
		"        sex: {type: category, categories: [F, M], unknown: other, missing: category} # list the possible words",
		"        smoker: {type: boolean, true: [\"yes\"], false: [\"no\"], missing: \"no\"} # a gap counts as no\n",
		"        # seen: {type: date", "        # drug: {type: category", "    scale: range #",
		"  protocol: {name: sealed, privacy: {epsilon: 2.5, delta: 0.001}} #", "  kernel: {name: linear} #", "  learner: {name: ridge-classifier} #",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
	for _, refused := range []string{"\n        seen:", "\n        drug:", "median", "most-frequent", "alpha:", "standard"} {
		if strings.Contains(text, refused) {
			t.Errorf("%q, which privacy refuses, is in\n%s", refused, text)
		}
	}
	var numbers strings.Builder
	numbers.WriteString("a,y\n")
	for i := range 60 {
		fmt.Fprintf(&numbers, "%d,%g\n", i, float64(i)/7)
	}
	if text := privately(t, "moments", 1, numbers.String()).Job(); !strings.Contains(text, "learner: {name: ridge} #") {
		t.Errorf("measured labels:\n%s", text)
	}
}

// Only moments and sealed have privacy, and delta is at most a tenth of one over the rows.
func TestPrivateDraftChecks(t *testing.T) {
	const table = "a,y\n1,u\n2,v\n"
	for protocol, says := range map[string]string{"okra": "write --protocol moments", "pooled": "write --protocol moments", "moments": "", "sealed": ""} {
		if err := privately(t, protocol, 4, table).Check(); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", protocol, err)
		}
	}
	if err := privately(t, "sealed", -1, table).Check(); err == nil || !strings.Contains(err.Error(), "use 0.01 to 100") {
		t.Errorf("epsilon -1: %v", err)
	}
	for rows, want := range map[int]float64{2: privacy.MostDelta, 99: 1e-3, 30_000: 1e-6} {
		d := privately(t, "sealed", 1, table)
		d.Sites[0].Rows, d.Sites[1].Rows = rows-1, 1
		if got := d.delta(); got != want || got > max(.1/float64(rows), want) {
			t.Errorf("%d rows: delta %v, want %v", rows, got, want)
		}
	}
}
