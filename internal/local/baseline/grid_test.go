package baseline

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/learner"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/local/partition/partitiontest"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/all"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/internal/method/local/pool"
	"github.com/mercer-fl/mercer/model"
)

// gridOf adds a grid of four cells to a job.
func gridOf(t *testing.T, j *job.Job) *job.Job {
	t.Helper()
	for _, gamma := range []float64{1e-4, 0.5} {
		k := j.Kernel
		k.Gamma = gamma
		j.Grid.Kernels = append(j.Grid.Kernels, k)
	}
	for _, c := range []float64{0.1, 10} {
		one := jobtest.With(t, j.At(0), map[string]string{"learner.C": fmt.Sprint(c)})
		j.Grid.Learners = append(j.Grid.Learners, one.Learner)
	}
	if err := all.Reader().Validate(j); err != nil {
		t.Fatal(err)
	}
	return j
}

// A pooled job with a grid, compared with pooled, agrees with itself in every cell; with
// folds and no test its figures are those of the best cell.
func TestRunPooledWithAGrid(t *testing.T) {
	for name, data := range map[string]string{"folds": ", folds: 4", "folds and test": ", folds: 4, test: {every: 4}"} {
		t.Run(name, func(t *testing.T) {
			r, o, _ := run(t, gridOf(t, parse(t, shared+data, "")), map[string]*dataset.Set{"all": partitiontest.WDBC(t, 0, 120)})
			if len(r.Grid) != 4 || *r.Difference != 0 || !*r.Exact {
				t.Fatalf("%d cells, difference %v, exact %v", len(r.Grid), *r.Difference, *r.Exact)
			}
			rows := map[string]int{"folds": 120, "folds and test": 90}[name]
			for i, c := range r.Grid {
				if *c.PooledMean != c.Mean || *c.PooledCorrect != c.Correct || c.Rows != rows {
					t.Errorf("cell %d: %+v, pooled %v, %v", i, c, *c.PooledMean, *c.PooledCorrect)
				}
			}
			chosen := r.Grid[pool.ChosenCell(r)]
			if name == "folds" && (r.HeldOut != 0 || len(o.Predicted) != 120 || math.Abs(r.Metrics["accuracy"]-chosen.Mean) > 1e-15) {
				t.Errorf("held out %d, %d decided, metrics %v, best cell %+v", r.HeldOut, len(o.Predicted), r.Metrics, chosen)
			}
			if name != "folds" && (r.HeldOut != 30 || len(o.Predicted) != 30) {
				t.Errorf("held out %d, %d decided", r.HeldOut, len(o.Predicted))
			}
			b, err := os.ReadFile(r.Models[0].Path)
			if err != nil {
				t.Fatal(err)
			}
			m, err := model.Open(bytes.NewReader(b))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(chosen.Kernel, m.Kernel()); d != "" {
				t.Errorf("the model's kernel: %s", d)
			}
			if len(r.Alone) != 2 || r.Alone[0].Metrics["accuracy"] <= 0.5 || r.Alone[0].Rows+r.Alone[1].Rows != rows {
				t.Errorf("alone: %+v", r.Alone)
			}
		})
	}
}

// In each fold a party alone is tested on the rows of all, and trained on its own rows
// outside the fold.
func TestAloneInFolds(t *testing.T) {
	j := parse(t, apart+", folds: 3, scale: none", "")
	sets := map[string]*dataset.Set{"n": partitiontest.WDBC(t, 0, 60), "s": partitiontest.OnlyOf(partitiontest.WDBC(t, 60, 60), "1")}
	r, _, shares := run(t, j, sets)
	labels := slices.Concat(shares[0].Table.Set.Labels, shares[1].Table.Set.Labels)
	folds, err := dataset.Folds(labels, 3, j.Seed)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{}
	for _, fold := range folds {
		ones := 0
		var train, test []int // of all rows
		for _, i := range fold {
			test = append(test, i)
			if labels[i] == "1" {
				ones++
			}
		}
		for i := range 60 {
			if !slices.Contains(fold, i) {
				train = append(train, i)
			}
		}
		want["south"] += float64(ones) / float64(len(fold)) / 3 // south knows class 1 only
		want["north"] += accuracyOf(t, j, shares, train, test) / 3
	}
	for _, a := range r.Alone {
		if math.Abs(a.Metrics["accuracy"]-want[a.Party]) > 1e-12 {
			t.Errorf("%s alone: %v, want %v", a.Party, a.Metrics["accuracy"], want[a.Party])
		}
	}
}

// accuracyOf trains on some rows of two tables and tests on others.
func accuracyOf(t *testing.T, j *job.Job, shares []partition.Share, train, test []int) float64 {
	t.Helper()
	all, err := dataset.Append(shares[0].Table.Set, shares[1].Table.Set)
	if err != nil {
		t.Fatal(err)
	}
	set := all.Subset(slices.Concat(train, test))
	split := method.Split{Set: set, Test: make([]bool, len(train)+len(test))}
	for i := len(train); i < len(split.Test); i++ {
		split.Test[i] = true
	}
	plain := *j
	plain.Data.Folds = 0
	f, err := pool.Fit(t.Context(), &plain, []method.Split{split}, []method.Split{split})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Measure()
	if err != nil {
		t.Fatal(err)
	}
	return m["accuracy"]
}

// A party whose rows are all in one fold has no training rows there.
func TestAloneWithoutRows(t *testing.T) {
	own := method.Split{Set: partitiontest.WDBC(t, 0, 1), Test: []bool{true}}
	m, err := trainAlone(t.Context(), parse(t, shared, ""), own, []method.Split{own})
	if d := cmp.Diff(learner.Metrics{}, m); err != nil || d != "" {
		t.Errorf("%v, %v; want no figures", m, err)
	}
}

// With folds: each, the job's figures are over all rows, each decided without it, and so are those of
// each party alone: of its own rows without the row, of others by all its rows.
func TestEachRowLeftOut(t *testing.T) {
	j := parse(t, apart+", folds: each, scale: none", "")
	sets := map[string]*dataset.Set{"n": partitiontest.WDBC(t, 0, 24), "s": partitiontest.WDBC(t, 60, 20)}
	r, o, shares := run(t, j, sets)
	if len(r.Grid) != 1 || len(r.Grid[0].Folds) != 1 || r.HeldOut != 0 || len(o.Predicted) != 44 || *r.Difference != 0 {
		t.Fatalf("%+v, %d held out", r.Grid, r.HeldOut)
	}
	right := map[string]float64{}
	for i := range 44 {
		var others, north, south []int
		for k := range 44 {
			switch {
			case k == i:
			case k < 24:
				north = append(north, k)
			default:
				south = append(south, k)
			}
		}
		others = slices.Concat(north, south)
		right["together"] += accuracyOf(t, j, shares, others, []int{i}) / 44
		right["north"] += accuracyOf(t, j, shares, north, []int{i}) / 44
		right["south"] += accuracyOf(t, j, shares, south, []int{i}) / 44
	}
	if math.Abs(r.Metrics["accuracy"]-right["together"]) > 1e-12 || right["together"] < .5 {
		t.Errorf("together: %v, want %v", r.Metrics["accuracy"], right["together"])
	}
	for _, a := range r.Alone {
		if math.Abs(a.Metrics["accuracy"]-right[a.Party]) > 1e-12 {
			t.Errorf("%s alone: %+v, want accuracy %v", a.Party, a, right[a.Party])
		}
	}
	sets["s"] = partitiontest.OnlyOf(partitiontest.WDBC(t, 60, 60), "1")
	if r, _, _ := run(t, j, sets); len(r.Alone) != 2 || r.Alone[1].Metrics["accuracy"] <= 0 || r.Alone[1].Failure != "" {
		t.Errorf("a party of one class: %+v", r.Alone)
	}
}
