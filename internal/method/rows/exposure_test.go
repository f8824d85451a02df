package rows_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
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
		{"scale: standard", "", protocol.ReachPart, "each learns the other's means and deviations, or can compute them"},
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
		rows.Expose(instance(j), r, more...)
		e := r.Exposures["party"]
		if e.Reach != tt.want || !strings.Contains(e.Why, tt.why) || !slices.Contains(r.Leakage["party"], e.Why) {
			t.Errorf("%s: %+v, want %s: %s; the statement: %q", tt.data, e, tt.want, tt.why, r.Leakage["party"])
		}
	}
	all := &method.Result{Leakage: map[string][]string{}, Exposures: map[string]protocol.Exposure{"party": {Reach: protocol.ReachAll, Why: "all"}}}
	rows.Expose(instance(jobtest.Parse(t, strings.NewReplacer("PARTIES", "[north, south]", "TEST", "test: {fraction: 0.25}").Replace(schemaJob))), all)
	if all.Exposures["party"].Why != "all" {
		t.Errorf("a greater exposure becomes %+v", all.Exposures["party"])
	}
}

func instance(j *job.Job) method.Instance { return method.Instance{Job: j, Parties: j.Parties()} }

// TestExposuresByPartiesThatTrain: what the fitted values tell depends on how many parties have
// training rows, and not on how many take part.
func TestExposuresByPartiesThatTrain(t *testing.T) {
	const (
		every = "What is fitted depends on every row"
		pair  = "Two parties train, and each learns the other's "
	)
	plain := strings.NewReplacer("schema:", "", "age: {range: [0, 120], missing: median}", "", "smoker: {type: category, categories: agree}", "").Replace(schemaJob)
	mean := strings.Replace(schemaJob, "missing: median", "missing: mean", 1)
	words := strings.NewReplacer(", missing: median", "", "scale: standard", "scale: none").Replace(schemaJob)
	for _, tt := range []struct{ text, parties, test, want, end string }{
		{schemaJob, "[north, south]", "{fraction: 0.25}", pair + "sums by subtracting its own. For a median", "range."},
		{mean, "[north, south]", "{fraction: 0.25}", pair + "sums by subtracting its own.", "own."},
		{words, "[north, south]", "{fraction: 0.25}", every, "row."},
		{schemaJob, "[north, south, east]", "{fraction: 0.25}", every, "row."},
		{schemaJob, "[north, south, east]", "{party: east}", pair + "sums", "range."},
		{schemaJob, "[north, south, east, west]", "{party: east}", every, "row."},
		{schemaJob, "[north, south]", "{party: south}", "Only north trains, and south learns the sums of north. For a median", "range."},
		{plain, "[north, south, east]", "{party: east}", pair + "means and deviations, or", "rows."},
		{plain, "[north, south]", "{party: north}", "Only south trains, and north learns the means and deviations of south.", "south."},
		{plain, "[north, south, east]", "{fraction: 0.25}", every, "row."},
	} {
		j := jobtest.Parse(t, strings.NewReplacer("PARTIES", tt.parties, "TEST", "test: "+tt.test).Replace(tt.text))
		r := &method.Result{Leakage: map[string][]string{}, Exposures: map[string]protocol.Exposure{"party": {Reach: protocol.ReachNone}}}
		rows.Expose(instance(j), r)
		if why := r.Exposures["party"].Why; !strings.HasPrefix(why, tt.want) || !strings.HasSuffix(why, tt.end) {
			t.Errorf("%s, %s: %q, want %q ... %q", tt.parties, tt.test, why, tt.want, tt.end)
		}
	}
	j := jobtest.Parse(t, strings.NewReplacer("PARTIES", "[north, south]", "TEST", "test: {fraction: 0.25}").Replace(schemaJob))
	j.Data.Fit.Job[0] = 1
	r := &method.Result{Leakage: map[string][]string{}, Exposures: map[string]protocol.Exposure{"party": {Reach: protocol.ReachNone}}}
	if rows.Expose(instance(j), r); !strings.HasPrefix(r.Exposures["party"].Why, every) {
		t.Errorf("with the fit of another job: %q", r.Exposures["party"].Why)
	}
}
