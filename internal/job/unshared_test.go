package job_test

import (
	"strings"
	"testing"

	. "github.com/mercer-fl/mercer/internal/job"
)

const onTable = `apiVersion: mercer/v1
kind: Job
metadata: {name: one}
spec:
  data: {source: patients, label: state}
  protocol: {name: pooled}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc}
`

// One process needs neither parties nor held-out rows, and nothing is compared without them.
func TestUnshared(t *testing.T) {
	for name, c := range map[string]struct {
		data    string
		none    bool
		compare int
	}{
		"a table":                 {"", false, 0},
		"all its rows":            {", test: none", true, 0},
		"parties":                 {", partition: {parties: [a, b]}", false, 2},
		"parties, and no test":    {", partition: {parties: [a, b]}, test: none", true, 0},
		"folds, and no test":      {", folds: 3, test: none", false, 0},
		"parties, folds, no test": {", partition: {parties: [a, b]}, folds: 3, test: none", false, 2},
	} {
		j, err := reader().Parse(name, []byte(strings.Replace(onTable, "state", "state"+c.data, 1)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := j.Simulable(); err != nil || !j.Unshared() || j.Deployable() == nil {
			t.Errorf("%s: %v, unshared %v, deployable: %v", name, err, j.Unshared(), j.Deployable())
		}
		if j.Data.Test.None != c.none || len(j.Compare) != c.compare || (j.Data.Test == Test{}) != (j.Data.Folds > 0) {
			t.Errorf("%s: test %+v, compare %v", name, j.Data.Test, j.Compare)
		}
	}
}

// A process with all rows adds up nothing between parties: it needs neither two tables nor a range.
// Parties by rows need both, and the owner of a whole column needs no range.
func TestUnsharedNeedsNoSums(t *testing.T) {
	const dictionary = `dictionary: {columns: {age: {missing: median}, seen: {type: date, format: "%Y-%m-%d", as: year}}, labels: {state: {}}}, scale: standard`
	byColumns := strings.NewReplacer("age:", "a.age:", "seen:", "b.seen:").Replace(dictionary)
	for _, c := range []struct{ data, protocol, want string }{
		{"sources: {all: p.csv}", "{name: pooled}", ""},
		{"sources: {all: p.csv}, " + dictionary, "{name: pooled}", ""},
		{"source: p, partition: {by: columns, parties: [a, b]}, " + byColumns, "{name: gram}", ""},
		{"sources: {all: p.csv}, test: {every: 4}", "{name: okra}", "a job needs at least two parties, but this list has 1; add parties"},
		{"source: p, partition: {parties: [a, b]}, " + dictionary, "{name: okra}", `column "age" has no range, without which its numbers cannot be summed over parties; add "range: [least, greatest]"`},
	} {
		file := strings.NewReplacer("source: patients", c.data, "{name: pooled}", c.protocol).Replace(onTable)
		_, err := reader().Parse("job.yaml", []byte(file))
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != "job.yaml:5: "+c.want) {
			t.Errorf("%s: %v\nwant %s", c.data, err, c.want)
		}
	}
}

// Months and weekdays have a range without the key range.
func TestRangesOfMonthsAndWeekdays(t *testing.T) {
	d, err := ParseDictionary("d.yaml", []byte(`apiVersion: mercer/v1
kind: Dictionary
metadata: {name: d}
spec: {columns: {m: {type: date, format: "%Y-%m-%d", as: month, missing: median}, w: {type: date, format: "%Y-%m-%d", as: weekday}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := [][2]float64{d.Columns[0].Range, d.Columns[1].Range}; got[0] != [2]float64{1, 12} || got[1] != [2]float64{0, 6} {
		t.Errorf("ranges %v", got)
	}
}
