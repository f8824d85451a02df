package rows_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/protocol"
)

// TestExposuresOfAFit: a party that receives values fitted on others' rows is not said to reconstruct
// none. Ends of ranges are real values of people.
func TestExposuresOfAFit(t *testing.T) {
	const schema = `
    schema:
      age: {range: [0, 120], missing: median}
      smoker: {type: category, categories: [no, yes]}`
	for _, tt := range []struct {
		data, more string
		want       protocol.Reach
		why        string
	}{
		{"scale: none", "", protocol.ReachNone, "nothing"},
		{"scale: minmax", "", protocol.ReachPart, "real values of rows"},
		{"scale: standard", "", protocol.ReachPart, "each learns the other's sums by subtracting its own."},
		{"scale: range" + schema, "", protocol.ReachPart, "how many of the other's rows lie in each small part"},
		{"scale: range" + strings.Replace(schema, ", missing: median", "", 1), "", protocol.ReachNone, "nothing"},
		{"scale: minmax", "Queries tell.", protocol.ReachPart, "Queries tell."},
	} {
		j := jobtest.Parse(t, strings.Replace(`apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data:
    source: small
    label: label
    partition: {parties: [north, south]}
    test: {fraction: 0.25}
    DATA
  protocol: {name: okra}
  kernel: {name: linear}
  learner: {name: svc}
`, "DATA", tt.data, 1))
		r := &method.Result{
			Leakage:   map[string][]string{"party": {"nothing"}},
			Exposures: map[string]protocol.Exposure{"party": {Reach: protocol.ReachNone, Why: "nothing"}},
		}
		var more []string
		if tt.more != "" {
			more = []string{tt.more}
		}
		rows.Expose(j, r, more...)
		e := r.Exposures["party"]
		if e.Reach != tt.want || !strings.Contains(e.Why, tt.why) || !slices.Contains(r.Leakage["party"], e.Why) {
			t.Errorf("%s: %+v, want %s: %s; the statement: %q", tt.data, e, tt.want, tt.why, r.Leakage["party"])
		}
	}
	three := &method.Result{Leakage: map[string][]string{}, Exposures: map[string]protocol.Exposure{"party": {Reach: protocol.ReachNone}}}
	rows.Expose(jobtest.Parse(t, strings.NewReplacer("PARTIES", "[north, south, east]", "TEST", "test: {fraction: 0.25}").Replace(schemaJob)), three)
	if why := three.Exposures["party"].Why; !strings.HasPrefix(why, "What is fitted depends on every row") {
		t.Errorf("three parties: %s", why)
	}
	all := &method.Result{Leakage: map[string][]string{}, Exposures: map[string]protocol.Exposure{"party": {Reach: protocol.ReachAll, Why: "all"}}}
	rows.Expose(jobtest.Parse(t, strings.NewReplacer("PARTIES", "[north, south]", "TEST", "test: {fraction: 0.25}").Replace(schemaJob)), all)
	if all.Exposures["party"].Why != "all" {
		t.Errorf("a greater exposure becomes %+v", all.Exposures["party"])
	}
}
