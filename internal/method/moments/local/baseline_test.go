package local

import (
	"math"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	sums "github.com/mercer-fl/mercer/internal/method/moments"
	"github.com/mercer-fl/mercer/internal/method/rows"
)

// baselines returns the baselines of a job over wdbc. Every third row of each party is held out.
func baselines(t *testing.T, text string, like learner.Metrics) *method.Result {
	t.Helper()
	c := finished(t)
	c.Job = jobtest.Parse(t, text)
	c.Result = &method.Result{Metrics: like}
	for i := range c.Job.Grid.Learners {
		c.Result.Grid = append(c.Result.Grid, learner.Cell{Best: i == 1})
	}
	c.Pooled = func() ([]method.Split, error) { return c.Splits, nil }
	if err := addBaselines(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c.Result
}

func compared(with ...string) string {
	return strings.NewReplacer(append(with, "label: label,", "label: label, scale: standard,", "gamma: 0.3", "gamma: 0.02", "[curve]", "[pooled, alone]")...).Replace(tumours)
}

// The baselines have the exact kernel and the job's own metrics. Whoever has all rows is at least as
// good as 20 random features of them.
func TestBaselines(t *testing.T) {
	r := baselines(t, compared(), learner.Metrics{"accuracy": .9})
	if v := r.Pooled["accuracy"]; len(r.Pooled) != 1 || v < .95 || v >= 1 {
		t.Errorf("pooled %v", r.Pooled)
	}
	if len(r.Alone) != 2 || r.Alone[0].Party != "north" || r.Alone[1].Rows != 190 {
		t.Fatalf("alone %+v", r.Alone)
	}
	for _, a := range r.Alone {
		if v := a.Metrics["accuracy"]; v < .92 {
			t.Errorf("alone %+v", a)
		}
	}
}

// The regression of the baseline is the learner's own on the rows of all parties.
func TestBaselineOfARegressionIsTheLearners(t *testing.T) {
	text := compared("ridge-classifier", "ridge", `classes: ["0", "1"]`, "targets: [0, 1]")
	r := baselines(t, text, learner.Metrics{"rmse": .3, "r2": .8})
	j := jobtest.Parse(t, text)
	c := finished(t)
	f, err := pool.Fit(t.Context(), j.At(1), c.Splits, c.Splits)
	if err != nil {
		t.Fatal(err)
	}
	want, err := f.Measure()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rmse", "r2"} {
		if math.Abs(r.Pooled[name]-want[name]) > 1e-9 {
			t.Errorf("%s %v, want %v", name, r.Pooled[name], want[name])
		}
	}
}

// The explained variance of a baseline is that of random features, as the job's.
func TestBaselineOfComponentsHasRandomFeatures(t *testing.T) {
	text := compared("ridge-classifier, alpha: [0.01, 0.1, 1]", "kpca, n_components: 3", `, classes: ["0", "1"]`, "")
	r := baselines(t, text, learner.Metrics{"explained_variance": .4})
	c := finished(t)
	p, err := pool.PrepareExactly(jobtest.Parse(t, text), c.Splits, c.Splits)
	if err != nil {
		t.Fatal(err)
	}
	want, err := random(t.Context(), jobtest.Parse(t, text), p)
	if err != nil || r.Pooled["explained_variance"] != want["explained_variance"] {
		t.Errorf("explained variance %v, want %v; error %v", r.Pooled, want, err)
	}
}

// For many rows a baseline has random features.
func TestBaselineByRandomFeatures(t *testing.T) {
	c := finished(t)
	j := jobtest.Parse(t, compared("directions: 20", "directions: 200"))
	p, err := pool.PrepareExactly(j, c.Splits, c.Splits)
	if err != nil {
		t.Fatal(err)
	}
	m, err := random(t.Context(), j, p)
	if err != nil || m["accuracy"] < .9 {
		t.Errorf("%v, %v", m, err)
	}
}

const corner = `apiVersion: mercer/v1
kind: Job
metadata: {name: corner}
spec:
  data: {source: corner, label: label, features: 2, partition: {parties: [north, south, east]}, test: {source: other}, scale: none}
  protocol: {name: moments, classes: [low, high], privacy: {epsilon: 8, delta: 1.0e-5, bound: 1.2}}
  kernel: {name: linear}
  learner: {name: ridge-classifier}
  compare: [pooled, alone]
`

// Beside a job with privacy and linear features, baselines have the same features, so that noise alone separates them
// from the job: the ridge regression of the columns and a constant, and not of the columns alone.
func TestBaselinesOfLinearFeatures(t *testing.T) {
	j := jobtest.Parse(t, corner)
	tables := methodtest.Corners(j.Parties(), 400)
	f := methodtest.New(t, sums.Protocol(), methodtest.Instance(j), tables)
	f.Finish(t)
	c := local.Comparison{Job: j, Result: f.Result(t)}
	for _, name := range j.Parties() {
		s, err := rows.Split(j, name, tables[name])
		if err != nil {
			t.Fatal(err)
		}
		c.Splits = append(c.Splits, s)
	}
	c.Pooled = func() ([]method.Split, error) { return c.Splits, nil }
	if err := addBaselines(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	private, pooled := c.Result.Metrics["accuracy"], c.Result.Pooled["accuracy"]
	t.Logf("private %v, pooled %v, alone %+v", private, pooled, c.Result.Alone)
	if want := methodtest.CornerAccuracy(c.Splits, c.Splits, 1.2, 1); pooled != want || pooled < private {
		t.Errorf("pooled %v, want %v and at least %v", pooled, want, private)
	}
	all, err := pool.PrepareExactly(j, c.Splits, c.Splits)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := random(t.Context(), sums.Ordinary(j), all); err != nil || math.Abs(m["accuracy"]-pooled) > .01 {
		t.Errorf("as for many rows, counted in fives: %v, want %v; %v", m, pooled, err)
	}
	for i, a := range c.Result.Alone {
		if want := methodtest.CornerAccuracy(c.Splits[i:i+1], c.Splits, 1.2, 1); a.Metrics["accuracy"] != want {
			t.Errorf("alone %+v, want %v", a, want)
		}
	}
}
