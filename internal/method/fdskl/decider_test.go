package fdskl

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/method/columns"
	"github.com/mercer-fl/mercer/internal/method/columns/columnstest"
	"github.com/mercer-fl/mercer/learn/linear"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/fdskl"
	"github.com/mercer-fl/mercer/protocol/scale"
)

// asked is a job whose predictions are open.
func asked(t testing.TB, training string) *job.Job {
	t.Helper()
	return read(t, `apiVersion: mercer/v1
kind: Job
metadata: {name: asked}
spec:
  data: {source: people, label: label, partition: {by: columns, parties: [guest, host]}}
  protocol: {name: fdskl, directions: 64, training: `+training+`}
  prediction: open
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: logistic, lambda: 1.0e-3}
`)
}

// New rows in another order, all or some at a time, have the decisions that they had
// when they were held out.
func TestDeciderDecidesAsTheTraining(t *testing.T) {
	for _, training := range []string{"cached", "block", "precond", "faithful"} {
		j := asked(t, training)
		set := columnstest.Numbered(t, "wdbc", 569)
		const train = 200
		tr, err := NewSolver(j, set.Labels, train, [32]byte{1})
		if err != nil {
			t.Fatal(err)
		}
		rows := dataset.RowsOf(set.X)
		scaling, err := scale.Pooled(linalg.Pick(rows, linalg.Range(0, train)), scale.Method(j.Data.Scale))
		if err != nil {
			t.Fatal(err)
		}
		d := DirectionsOf(j, columns.Directions{Gamma: j.Kernel.Gamma, Key: j.Hash(), Common: [32]byte{1}})
		source, err := d.Phases(scaling.Rows(rows), keysOf(j).Bits)
		if err != nil {
			t.Fatal(err)
		}
		if err := AnswerAll(t.Context(), tr, source, 2); err != nil {
			t.Fatal(err)
		}
		got, err := tr.Learn(nil)
		if err != nil {
			t.Fatal(err)
		}
		n := len(set.Labels) - train
		back := linalg.Range(train, len(set.Labels))
		for i := range n / 2 {
			back[i], back[n-1-i] = back[n-1-i], back[i]
		}
		if source, err = d.Phases(scaling.Rows(linalg.Pick(rows, back)), keysOf(j).Bits); err != nil {
			t.Fatal(err)
		}
		model := &columns.ModelPart{Job: j, Coefficients: got.Coefficients}
		spec := fdskl.Spec{Rows: n, Directions: 64, Bits: 16}
		whole, parts := newDecider(model, spec), newDecider(model, spec)
		parts.maxDirections = 24
		if parts.table = linear.NewPhases[float64](100, 64, 16); training != "cached" {
			parts.table = parts.table.Unscaled()
		}
		for _, ask := range []*decider{whole, parts} {
			if err := AnswerAll(t.Context(), ask, source, 2); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if a, b := ask.decisions.Row(i)[0], got.Decisions.Row(0)[n-1-i]; math.Abs(a-b) > 1e-4*(1+math.Abs(b)) {
					t.Fatalf("%s, %d rows at a time: row %d has the decision %v, and had %v", training, ask.table.Rows(), i, a, b)
				}
			}
		}
	}
}
