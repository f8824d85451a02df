package local

import (
	"context"
	"errors"
	"testing"

	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/internal/method/fdsvrg"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
)

const file = `apiVersion: mercer/v1
kind: Job
metadata: {name: svrg}
spec:
  data: {source: wdbc, label: label, partition: {by: columns, parties: [guest, host]}, test: {every: 4}, scale: standard}
  protocol: {name: fd-svrg, mode: paper}
  kernel: {name: linear}
  learner: {name: logistic, lambda: 0.01}
  compare: [pooled, alone]
`

// The optimum on all columns is compared, and on the columns of the party with the labels; the
// other party has nothing to learn from.
func TestComparisons(t *testing.T) {
	j := methodtest.Read(t, fdsvrg.Protocol(), file)
	set := columnstest.Numbered(t, "wdbc", 200)
	test := make([]bool, 200)
	for i := 150; i < 200; i++ {
		test[i] = true
	}
	c := local.Comparison{Job: j, Result: &method.Result{Training: 150}}
	tables := columnstest.Whole(t, j, set)
	for i, name := range j.Parties() {
		own := *tables[name].Set
		if i > 0 {
			own.Labels = nil
		}
		c.Splits = append(c.Splits, method.Split{Set: &own, Test: test})
	}
	if err := pool.Columns(fitted)(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if a := c.Result.Pooled["accuracy"]; a < 0.9 {
		t.Errorf("pooled %v", c.Result.Pooled)
	}
	if len(c.Result.Alone) != 2 || c.Result.Alone[0].Metrics["accuracy"] < 0.8 || c.Result.Alone[0].Failure != "" || c.Result.Alone[1].Failure == "" {
		t.Errorf("alone %+v", c.Result.Alone)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := pool.Columns(fitted)(stopped, c); !errors.Is(err, context.Canceled) {
		t.Errorf("a comparison that nobody wants: %v", err)
	}
}
