package cli

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/report"
)

// The page says what was set, whichever the protocol and the learner are.
func TestPageSaysWhatWasSet(t *testing.T) {
	const file = `apiVersion: mercer/v1
kind: Job
metadata: {name: loans}
spec:
  data: {source: loans.csv, label: y, id: id, partition: {by: columns, parties: [bank, shop]}}
  protocol: {name: fdskl, directions: 64, training: block}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: huber, delta: 0.25, rate: 0.125, batch: 16}
`
	j := jobtest.Parse(t, file)
	r := &method.Result{Metrics: learner.Metrics{"coverage_95": 0.9, "r2": 0.5, "rmse": 2}}
	run := page(outcome{Result: r, job: j})
	_, params := learner.OptimizerParamsOf(j)
	want := map[string]string{
		"Protocol": j.Protocol.Text(),
		"Kernel":   "rbf, gamma = 0.5",
		"Learner":  "huber, lambda = " + fmt.Sprint(params.Lambda) + ", iterations = " + fmt.Sprint(params.Iterations) + ", delta = 0.25, rate = 0.125, batch = 16",
	}
	for _, row := range run.Summary {
		if w, some := want[row.Label]; some && row.Value != w {
			t.Errorf("%s is %q, want %q", row.Label, row.Value, w)
		}
		delete(want, row.Label)
	}
	if len(want) > 0 {
		t.Errorf("the page says nothing of %v", want)
	}
	shown := &method.Presentation{Learner: "huber, delta = 7 (from the noise)"}
	if run := page(outcome{Result: r, job: j, shown: shown}); !slices.Contains(run.Summary, report.Row{Label: "Learner", Value: shown.Learner}) {
		t.Errorf("the page does not have the method's learner: %v", run.Summary)
	}
	if run.Metrics[0] != "rmse" || run.Metrics[1] != "r2" || run.Metrics[2] != "coverage_95" {
		t.Errorf("figures in the order %v", run.Metrics)
	}
}
