package cli

import (
	"fmt"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
)

// jobOver returns a job with the given data and protocol.
func jobOver(t *testing.T, data, protocol string) *job.Job {
	t.Helper()
	return jobtest.Parse(t, fmt.Sprintf("apiVersion: mercer/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  data: {%s}\n  protocol: {name: %s}\n  kernel: {name: rbf, gamma: 0.5}\n  learner: {name: svc}\n", data, protocol))
}

// The first line of a result says what is predicted, from how many columns, and for whose rows.
func TestSubject(t *testing.T) {
	classes := func(names ...string) (list []learner.ClassCount) {
		for _, n := range names {
			list = append(list, learner.ClassCount{Class: n, HeldOut: 2})
		}
		return list
	}
	const three = "source: a.csv, label: outcome, partition: {parties: [north, south, east]}"
	right, wrong := learner.Metrics{"accuracy": 1}, learner.Metrics{"rmse": 1}
	for name, tt := range map[string]struct {
		data, protocol string
		metrics        learner.Metrics
		classes        []learner.ClassCount
		columns        int
		want           string
	}{
		"classes": {three, "okra", right, classes("ill", "well"), 9, "Predicted: outcome (ill or well), from 9 columns of the rows of 3 parties (north, south, east)."},
		"many":    {three, "okra", right, classes("0", "1", "2", "3", "4", "5"), 0, "Predicted: outcome (one of 6 classes: 0, 1, 2, 3, and 2 more), from the rows of 3 parties (north, south, east)."},
		"numbers": {three, "okra", wrong, nil, 1, "Predicted: outcome (a number), from 1 column of the rows of 3 parties (north, south, east)."},
		"columns": {"source: a.csv, label: y, id: id, partition: {by: columns, parties: [bank, shop]}", "gram", right, classes("a", "b", "c"), 7,
			"Predicted: y (a, b, c), from 7 columns that 2 parties (bank, shop) hold about the same rows."},
		"one table":       {"source: a.csv, label: y", "pooled", right, classes("a", "b"), 2, "Predicted: y (a or b), from 2 columns of one table."},
		"unknown classes": {three, "okra", right, nil, 2, ""},
	} {
		o := outcome{Result: &method.Result{Metrics: tt.metrics}, classes: tt.classes, columns: tt.columns, job: jobOver(t, tt.data, tt.protocol)}
		if got := o.subject(); got != tt.want {
			t.Errorf("%s: %s\nwant %s", name, got, tt.want)
		}
	}
	if got := (outcome{Result: patients()}).subject(); got != "" {
		t.Errorf("without a job: %s", got)
	}
}

// A table without a single site says why.
func TestWhyNoSiteIsCompared(t *testing.T) {
	j := jobOver(t, "source: a.csv, label: outcome, partition: {parties: [north, south]}", "okra")
	compared, alone := objections{parties: 2}, []method.Alone{{Party: "north"}}
	for want, o := range map[string]outcome{
		"": {Result: &method.Result{Metrics: learner.Metrics{"accuracy": 1}, HeldOut: 9, Alone: alone}, objections: compared},
		"Whether joining helps is unknown: the job trains no site alone; add compare: [alone].":                                      {Result: &method.Result{Metrics: learner.Metrics{"accuracy": 1}, HeldOut: 9}, objections: compared},
		"Whether joining helps is unknown: no member has all sites' held-out rows; mercer simulate compares, with compare: [alone].": {Result: &method.Result{Metrics: learner.Metrics{"accuracy": 1}, HeldOut: 9}},
	} {
		o.job = j
		if got := o.noSite(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The page has the order of the terminal: subject, verdict, scores, privacy, refusals and next
// command. No name of a stage looks like a failure.
func TestFirstScreenOfThePage(t *testing.T) {
	o := outcome{Result: patients(), objections: objections{parties: 3, refuse: 3}, next: "mercer predict m TABLE.csv"}
	o.Refused, o.Timings = []string{"the ledger stops it"}, map[string]float64{"errors": 1}
	o.job = jobOver(t, "source: a.csv, label: outcome, partition: {parties: [north, south]}", "okra")
	run := page(o)
	if run.Subject != "Predicted: outcome (0 or 1), from the rows of 2 parties (north, south)." {
		t.Errorf("subject %q", run.Subject)
	}
	if len(run.Next) != 2 || run.Next[0] != o.objections.outlook()[0] || run.Next[1] != "next: mercer predict m TABLE.csv" || len(run.Refused) != 1 {
		t.Errorf("next %q, refused %q", run.Next, run.Refused)
	}
	if len(run.Notes) != 1 || run.Notes[0] != "dingle alone cannot learn this: it has no labels" {
		t.Errorf("notes %q", run.Notes)
	}
	if len(run.Timings) != 1 || run.Timings[0].Stage != "sums over held-out rows" {
		t.Errorf("timings %+v", run.Timings)
	}
}
