package local

import (
	"math"
	"testing"

	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/local"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	"github.com/mercer-fl/mercer/internal/method/methodtest"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/internal/method/sealed"
)

const tumours = `apiVersion: mercer/v1
kind: Job
metadata: {name: tumours}
spec:
  data: {source: bundled:wdbc, label: label, scale: standard, partition: {parties: [north, south]}}
  protocol: {name: sealed, features: 60, classes: ["0", "1"]}
  kernel: {name: rbf, gamma: 0.02}
  learner: {name: ridge-classifier, alpha: 0.1}
`

// finished is a job of two parties as a coordinator reports it, with every third row of each held out.
func finished(t *testing.T) local.Comparison {
	t.Helper()
	all, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	c := local.Comparison{Job: jobtest.Parse(t, tumours), Result: &method.Result{Metrics: learner.Metrics{"accuracy": .9}}}
	c.Job.Compare = []job.Comparison{job.Pooled, job.Alone}
	for party := range 2 {
		s := method.Split{}
		var rows []int
		for i := party; i < all.X.Rows(); i += 2 {
			s.Test = append(s.Test, len(rows)%3 == 2)
			rows = append(rows, i)
		}
		s.Set = all.Subset(rows)
		c.Splits = append(c.Splits, s)
	}
	c.Pooled = func() ([]method.Split, error) { return c.Splits, nil }
	return c
}

// The comparisons have the exact kernel and the job's own metrics.
func TestCompare(t *testing.T) {
	c := finished(t)
	if err := compare(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if v := c.Result.Pooled["accuracy"]; len(c.Result.Pooled) != 1 || v < .95 || v >= 1 {
		t.Errorf("pooled %v", c.Result.Pooled)
	}
	if a := c.Result.Alone; len(a) != 2 || a[0].Party != "north" || a[1].Rows != 190 || a[0].Metrics["accuracy"] < .92 {
		t.Errorf("alone %+v", a)
	}
}

// Many rows have random features, and the solution that the keepers would open.
func TestCompareByRandomFeatures(t *testing.T) {
	c := finished(t)
	p, err := pool.PrepareExactly(c.Job, c.Splits, c.Splits)
	if err != nil {
		t.Fatal(err)
	}
	m, err := random(c.Job, p, 380)
	if err != nil || m["accuracy"] < .93 {
		t.Errorf("%v, %v", m, err)
	}
}

// An alpha for each row is that of as many rows as train.
func TestAlphaFor(t *testing.T) {
	j := jobtest.Parse(t, tumours)
	if a := sealed.AlphaFor(j, 380); a < .0999 || a > .1001 {
		t.Errorf("alpha %v", a)
	}
	job.As[*sealed.Keys](j.Protocol).PerRow = 1e-3
	if a := sealed.AlphaFor(j, 380); a < .3799 || a > .3801 {
		t.Errorf("alpha %v for 380 rows", a)
	}
}

const corner = `apiVersion: mercer/v1
kind: Job
metadata: {name: corner}
spec:
  data: {source: corner, label: label, features: 2, partition: {parties: [north, south, east]}, test: {source: other}, scale: none}
  protocol: {name: sealed, classes: [low, high], privacy: {epsilon: 8, delta: 1.0e-5, bound: 1.2}}
  kernel: {name: linear}
  learner: {name: ridge-classifier}
  compare: [pooled, alone]
`

// Beside a job with privacy and linear features, baselines have the same features, so that noise alone separates them
// from the job: the ridge regression of the columns and a constant, and not of the columns alone.
func TestLinearBaselines(t *testing.T) {
	j := jobtest.Parse(t, corner)
	tables := methodtest.Corners(j.Parties(), 400)
	f := methodtest.New(t, sealed.Protocol(), methodtest.Instance(j), tables)
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
	if err := compare(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	private, pooled := c.Result.Metrics["accuracy"], c.Result.Pooled["accuracy"]
	t.Logf("private %v, pooled %v, alone %+v", private, pooled, c.Result.Alone)
	if want := methodtest.CornerAccuracy(c.Splits, c.Splits, 1.2, .12); pooled != want || pooled < private {
		t.Errorf("pooled %v, want %v and at least %v", pooled, want, private)
	}
	all, err := pool.PrepareExactly(j, c.Splits, c.Splits)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := random(sealed.Ordinary(j), all, 1200); err != nil || math.Abs(m["accuracy"]-pooled) > .01 {
		t.Errorf("as for many rows, counted in fives: %v, want %v; %v", m, pooled, err)
	}
	for i, a := range c.Result.Alone {
		if want := methodtest.CornerAccuracy(c.Splits[i:i+1], c.Splits, 1.2, .04); a.Metrics["accuracy"] != want {
			t.Errorf("alone %+v, want %v", a, want)
		}
	}
}
