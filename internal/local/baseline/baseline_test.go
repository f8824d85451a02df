package baseline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/local/partition/partitiontest"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	"github.com/mercer-fl/mercer/internal/method/rows"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

const jobFile = `apiVersion: mercer/v1
kind: Job
metadata: {name: small}
spec:
  data: {%s, label: label}
  protocol: {name: pooled}
  kernel: {name: rbf, gamma: 0.5}
  learner: {name: svc, C: 10, tol: 1.0e-8%s}
  compare: [pooled, alone]
`

const (
	shared = "source: all, partition: {parties: [north, south]}"
	apart  = "sources: {north: n, south: s}"
)

func parse(t *testing.T, data, learner string) *job.Job {
	t.Helper()
	return jobtest.Parse(t, fmt.Sprintf(jobFile, data, learner))
}

// run runs a pooled job and compares it.
func run(t *testing.T, j *job.Job, sets map[string]*dataset.Set) (*method.Result, *method.Outcome, []partition.Share) {
	t.Helper()
	shares, err := partition.Shares(j, partitiontest.Library(sets))
	if err != nil {
		t.Fatal(err)
	}
	r, o, err := RunPooled(t.Context(), j, shares, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := Compare(t.Context(), nil, j, shares, o, r); err != nil {
		t.Fatal(err)
	}
	return r, o, shares
}

// A pooled job compared with pooled equals itself; its model gives its decisions again from
// raw rows.
func TestRunPooledLeavesItsModel(t *testing.T) {
	for _, scale := range []string{"none", "minmax", "standard"} {
		t.Run(scale, func(t *testing.T) {
			r, o, shares := run(t, parse(t, shared+", scale: "+scale, ""), map[string]*dataset.Set{"all": partitiontest.WDBC(t, 0, 80)})
			if *r.Difference != 0 || !*r.Exact {
				t.Errorf("difference %v, exact %v; want 0 and true", *r.Difference, *r.Exact)
			}
			b, err := os.ReadFile(r.Models[0].Path)
			if err != nil {
				t.Fatal(err)
			}
			m, err := model.Open(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			held := heldOut(t, shares)
			again, err := m.Decisions(held)
			if err != nil {
				t.Fatal(err)
			}
			if d := largest(again, o.Decisions); d > 1e-9 {
				t.Errorf("the model's decisions differ by %g", d)
			}
		})
	}
}

// The components of the job are compared with pooled's: components that are -3 times as long are
// aligned first, and their mean squared difference is four times pooled's mean square.
func TestCompareComponents(t *testing.T) {
	text := strings.NewReplacer("{name: svc, C: 10, tol: 1.0e-8%s}", "{name: kpca, n_components: 3}", "[pooled, alone]", "[pooled]").Replace(jobFile)
	j := jobtest.Parse(t, fmt.Sprintf(text, shared))
	shares, err := partition.Shares(j, partitiontest.Library(map[string]*dataset.Set{"all": partitiontest.WDBC(t, 0, 80)}))
	if err != nil {
		t.Fatal(err)
	}
	r, o, err := RunPooled(t.Context(), j, shares, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want, n := 0.0, 0.0
	for i := range o.Decisions.Rows {
		for k, v := range o.Decisions.Row(i) {
			want, n = want+4*v*v, n+1
			o.Decisions.Row(i)[k] = -3 * v
		}
	}
	if err := Compare(t.Context(), nil, j, shares, o, r); err != nil {
		t.Fatal(err)
	}
	if l := r.Components; l == nil || math.Abs(l.MSE/(want/n)-1) > 1e-9 || l.R2 == nil || *l.R2 > -2.9 {
		t.Errorf("likeness %+v, want a mean squared error of %v and an R2 of about -3", l, want/n)
	}
}

func heldOut(t *testing.T, shares []partition.Share) linalg.Matrix[float64] {
	t.Helper()
	var splits []method.Split
	for _, s := range shares {
		split, err := rows.Split(parse(t, shared, ""), s.Party, s.Table)
		if err != nil {
			t.Fatal(err)
		}
		splits = append(splits, split)
	}
	all, err := dataset.Append(pool.Tables(splits, true)...)
	if err != nil {
		t.Fatal(err)
	}
	return dataset.DenseOf(all.X).Matrix()
}

func largest(a, b linalg.Matrix[float64]) float64 {
	worst := 0.0
	for i := range a.Rows {
		for k, v := range a.Row(i) {
			worst = max(worst, v-b.Row(i)[k], b.Row(i)[k]-v)
		}
	}
	return worst
}

// A party with only one class always predicts it; that is no failure.
func TestCompareAPartyWithOneClass(t *testing.T) {
	sets := map[string]*dataset.Set{"n": partitiontest.WDBC(t, 0, 60), "s": partitiontest.OnlyOf(partitiontest.WDBC(t, 60, 60), "1")}
	r, o, _ := run(t, parse(t, apart, ""), sets)
	if len(r.Alone) != 2 || r.Alone[1].Party != "south" {
		t.Fatalf("alone: %+v", r.Alone)
	}
	benign := 0
	for _, p := range o.Predicted {
		if p == "1" {
			benign++
		}
	}
	south, north := r.Alone[1].Metrics["accuracy"], r.Alone[0].Metrics["accuracy"]
	if south >= 1 || south <= 0.3 || north <= south {
		t.Errorf("accuracy of south alone %v, of north alone %v; want south's share of benign rows, and north better", south, north)
	}
}

// Weights of a class that a party lacks are left out for that party alone.
func TestCompareWithWeightsOfAClassThatAPartyLacks(t *testing.T) {
	sets := map[string]*dataset.Set{"n": partitiontest.WDBC(t, 0, 60), "s": partitiontest.OnlyOf(partitiontest.WDBC(t, 60, 60), "1")}
	j := parse(t, apart, ", class_weight: {\"0\": 2, \"1\": 1}")
	before := j.Learner.Text()
	if r, _, _ := run(t, j, sets); len(r.Alone) != 2 {
		t.Errorf("alone: %+v", r.Alone)
	}
	if j.Learner.Text() != before {
		t.Error("the job's own weights were changed")
	}
}

func TestRunPooledOfOneClass(t *testing.T) {
	sets := map[string]*dataset.Set{"n": partitiontest.OnlyOf(partitiontest.WDBC(t, 0, 60), "1"), "s": partitiontest.OnlyOf(partitiontest.WDBC(t, 60, 60), "1")}
	j := parse(t, apart, "")
	shares, err := partition.Shares(j, partitiontest.Library(sets))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := RunPooled(t.Context(), j, shares, t.TempDir()); fault.CodeOf(err) != fault.CodeBadInput || !strings.Contains(err.Error(), "same label") {
		t.Errorf("error %v, want bad input", err)
	}
}

func TestCompareRefusesAnotherOutcome(t *testing.T) {
	r, o, shares := run(t, parse(t, shared, ""), map[string]*dataset.Set{"all": partitiontest.WDBC(t, 0, 80)})
	other := *o
	other.Classes = []string{"x", "y"}
	if err := Compare(t.Context(), nil, parse(t, shared, ""), shares, &other, r); err == nil || !strings.Contains(err.Error(), "differ from the job") {
		t.Errorf("error %v", err)
	}
	if d := cmp.Diff(2, len(r.Alone)); d != "" {
		t.Error(d)
	}
}

// The comparison trains by itself on the rows of all parties: a federation with other decisions and
// figures has its difference, is not exact, and has the figures of the pooled machine beside it.
func TestCompareTellsADifferentFederation(t *testing.T) {
	j := parse(t, shared, "")
	r, o, shares := run(t, j, map[string]*dataset.Set{"all": partitiontest.WDBC(t, 0, 80)})
	want := maps.Clone(r.Metrics)
	other := *o
	other.Decisions, other.Predicted = linalg.New[float64](o.Decisions.Rows, o.Decisions.Cols), slices.Clone(o.Predicted)
	for i := range other.Decisions.Rows {
		for k, v := range o.Decisions.Row(i) {
			other.Decisions.Row(i)[k] = v + .5
		}
	}
	other.Decisions.Row(3)[0]++ // the largest difference counts
	other.Predicted[0] = map[string]string{"0": "1", "1": "0"}[o.Predicted[0]]
	r.Metrics = learner.Metrics{"accuracy": .25}
	if err := Compare(t.Context(), nil, j, shares, &other, r); err != nil {
		t.Fatal(err)
	}
	if math.Abs(*r.Difference-1.5) > 1e-9 || *r.Exact {
		t.Errorf("difference %v, exact %v; want 1.5 and false", *r.Difference, *r.Exact)
	}
	if d := cmp.Diff(want, r.Pooled); d != "" || len(want) < 3 {
		t.Errorf("figures of the pooled machine: %s", d)
	}
}

// Each comparison is made only if the job asks for it.
func TestComparesOnlyWhatTheJobAsksFor(t *testing.T) {
	for _, asked := range [][]job.Comparison{nil, {job.Pooled}, {job.Alone}, {job.Pooled, job.Alone}} {
		j := parse(t, shared, "")
		j.Compare = asked
		r, _, _ := run(t, j, map[string]*dataset.Set{"all": partitiontest.WDBC(t, 0, 80)})
		pooled, alone := slices.Contains(asked, job.Pooled), slices.Contains(asked, job.Alone)
		if (r.Pooled != nil) != pooled || (r.Difference != nil) != pooled || (r.Exact != nil) != pooled || (r.Alone != nil) != alone {
			t.Errorf("compare: %v gives the figures %v of the pooled machine and %v of each party", asked, r.Pooled, r.Alone)
		}
	}
}

// A party whose rows are too few for the job's parameters does not fail the job; the result
// says so.
func TestCompareAPartyThatCannotLearnAlone(t *testing.T) {
	sets := map[string]*dataset.Set{"n": partitiontest.WDBC(t, 0, 60), "s": partitiontest.WDBC(t, 60, 60)}
	sets["s"].Labels[0], sets["s"].Labels[1] = "0", "0"
	for i := 2; i < 60; i++ {
		sets["s"].Labels[i] = "1"
	}
	j := parse(t, apart, "")
	j = jobtest.With(t, j, map[string]string{"learner": "{name: nu-svc, nu: 0.3}"})
	r, _, _ := run(t, j, sets)
	if south := r.Alone[1]; !strings.Contains(south.Failure, "in the smaller class, nu can be at most") || len(south.Metrics) > 0 {
		t.Errorf("south alone: %+v", south)
	}
	if north := r.Alone[0]; north.Failure != "" || north.Metrics["accuracy"] == 0 {
		t.Errorf("north alone: %+v", north)
	}
	if b, err := json.Marshal(r.Alone[1]); err != nil || !strings.Contains(string(b), `"error":"learner: svm`) {
		t.Errorf("%s, %v", b, err)
	}
}

// Without labels there are no classes to distribute or to hold out.
func TestSharesWithoutLabels(t *testing.T) {
	j := parse(t, shared, "")
	j = jobtest.With(t, j, map[string]string{"learner": "{name: kmeans, n_clusters: 2}", "data.label": ""})
	unlabelled := partitiontest.WDBC(t, 0, 40)
	unlabelled.Labels = nil
	r, o, _ := run(t, j, map[string]*dataset.Set{"all": unlabelled})
	if r.HeldOut == 0 || r.HeldOut+r.Training != 40 || o.Classes != nil || len(o.Predicted) != r.HeldOut || !*r.Exact {
		t.Errorf("%d held out, %d in training, %v", r.HeldOut, r.Training, o.Predicted)
	}
}

// An interrupted job leaves no model, and is no failure of a party.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	j := parse(t, shared, "")
	r, o, shares := run(t, j, map[string]*dataset.Set{"all": partitiontest.WDBC(t, 0, 80)})
	dir := t.TempDir()
	if _, _, err := RunPooled(ctx, j, shares, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("pooled: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
	for _, comparison := range []job.Comparison{job.Pooled, job.Alone} {
		j.Compare = []job.Comparison{comparison}
		if err := Compare(ctx, nil, j, shares, o, r); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", comparison, err)
		}
	}
}
