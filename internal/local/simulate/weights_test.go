package simulate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/internal/local/baseline"
	"github.com/mercer-fl/mercer/internal/local/partition"
	"github.com/mercer-fl/mercer/internal/local/partition/partitiontest"
	"github.com/mercer-fl/mercer/internal/method"
	"github.com/mercer-fl/mercer/internal/method/jobtest"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

const weighted = `apiVersion: mercer/v1
kind: Job
metadata: {name: weighted}
spec:
  data: {source: all, label: label%s, partition: {parties: [north, south, east]}, scale: none%s}
  protocol: {%s}
  kernel: {name: rbf, gamma: 0.5}
  learner: {%s}
  compare: [pooled, alone]
`

// weightedTumours returns 240 tumours in which row i has weight i modulo 4, minus 0.5: a quarter of
// the rows has a negative weight.
func weightedTumours(t *testing.T) *dataset.Set {
	set := partitiontest.WDBC(t, 0, 240)
	x := dataset.DenseOf(set.X).Matrix()
	for i := range x.Rows {
		for c := range x.Row(i) {
			x.Row(i)[c] /= 20 // neither a linear problem nor an identity matrix
		}
		set.Weights = append(set.Weights, float64(i%4)-.5)
	}
	set.X = dataset.NewDense(x)
	return set
}

// stacked returns the training rows or the held-out rows of all parties.
func stacked(t *testing.T, splits []method.Split, held bool) *dataset.Set {
	t.Helper()
	var sets []*dataset.Set
	for _, s := range splits {
		sets = append(sets, s.Set.Subset(s.Rows(held)))
	}
	all, err := dataset.Append(sets...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// decide trains a machine of package svm or ridge on the training rows, with their weights, and
// returns its decisions on the held-out rows.
func decide(t *testing.T, learner string, train, test *dataset.Set) []float64 {
	t.Helper()
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: .5})
	if err != nil {
		t.Fatal(err)
	}
	x, z := dataset.DenseOf(train.X).Matrix(), dataset.DenseOf(test.X).Matrix()
	src := kernel.Of(kernel.LinearGram(x), k)
	both, err := dataset.Append(test, train)
	if err != nil {
		t.Fatal(err)
	}
	cross := linalg.New[float64](z.Rows, x.Rows)
	kernel.Of(kernel.LinearGram(dataset.DenseOf(both.X).Matrix()), k).Block(linalg.Range(0, z.Rows), linalg.Range(z.Rows, z.Rows+x.Rows), cross)
	classes, codes := dataset.Classes(train.Labels)
	targets := make([]float64, len(train.Labels))
	for i, label := range train.Labels {
		targets[i], err = strconv.ParseFloat(label, 64)
		if err != nil {
			t.Fatal(err)
		}
	}
	single := func(m *svm.Machine, err error) []float64 {
		if err != nil {
			t.Fatal(err)
		}
		part := linalg.New[float64](z.Rows, len(m.Support))
		for i := range part.Rows {
			copy(part.Row(i), linalg.At(cross.Row(i), m.Support))
		}
		return m.Decisions(part)
	}
	classifier := func(c *svm.Classifier, err error) []float64 {
		if err != nil {
			t.Fatal(err)
		}
		p := c.Pairs[0]
		return single(&svm.Machine{Support: linalg.At(c.Support(), p.Index), Coef: p.Coef, Rho: p.Rho}, nil)
	}
	w := train.Weights
	switch learner {
	case "svc":
		return classifier(svm.TrainSVC(src, codes, classes, svm.Params{C: 3, Tol: 1e-10, RowWeights: w, Weights: map[string]float64{"1": 2}}, nil))
	case "nu-svc":
		return classifier(svm.TrainNuSVC(src, codes, classes, svm.NuParams{Nu: .2, Tol: 1e-10, RowWeights: w}, nil))
	case "one-class":
		return single(svm.TrainOneClass(src, svm.NuParams{Nu: .2, Tol: 1e-10, RowWeights: w}))
	case "svr":
		return single(svm.TrainSVR(src, targets, svm.SVRParams{C: 3, Epsilon: .1, Tol: 1e-10, RowWeights: w}))
	}
	total, mean := 0.0, 0.0
	for i, v := range w {
		total, mean = total+max(v, 0), mean+max(v, 0)*targets[i]
	}
	mean /= total
	for i := range targets {
		targets[i] -= mean
	}
	m, err := ridge.FitWeighted(src, targets, w, .3, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	out := m.Predict(cross)
	for i := range out {
		out[i] += mean
	}
	return out
}

// A job with weights decides as packages svm and ridge do on the pooled rows with their weights, by
// each protocol and learner that takes weights. Without weights, it decides otherwise.
func TestWeightsReachTheMachine(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, learner := range []string{
		`name: svc, C: 3, tol: 1.0e-10, class_weight: {"1": 2}`, "name: nu-svc, nu: 0.2, tol: 1.0e-10", "name: one-class, nu: 0.2, tol: 1.0e-10",
		"name: svr, C: 3, epsilon: 0.1, tol: 1.0e-10", "name: ridge, alpha: 0.3",
	} {
		for _, protocol := range []string{"name: okra, wire: float64", "name: flake, wire: float64", "name: pooled"} {
			run := func(weight string) (*method.Result, *method.Outcome, []method.Split) {
				j := jobtest.Parse(t, fmt.Sprintf(weighted, weight, "", protocol, learner))
				set := weightedTumours(t)
				r, o, shares := simulateOrPool(t, j, partitiontest.Library(map[string]*dataset.Set{"all": set}))
				splits, err := partition.Splits(j, shares)
				if err != nil {
					t.Fatal(err)
				}
				return r, o, splits
			}
			r, o, splits := run(", weight: factor")
			name, _, _ := strings.Cut(strings.TrimPrefix(learner, "name: "), ",")
			want := decide(t, name, stacked(t, splits, false), stacked(t, splits, true))
			for i, d := range o.Decisions.Column(0) {
				if math.Abs(d-want[i]) > 1e-9*(1+math.Abs(d)) {
					t.Errorf("%s, %s: decision %d is %v, want %v", protocol, learner, i, d, want[i])
					break
				}
			}
			if *r.Difference > 1e-9 || len(r.Alone) != 3 || len(r.Alone[0].Metrics) == 0 {
				t.Errorf("%s, %s: difference to pooled %v, alone %+v", protocol, learner, *r.Difference, r.Alone)
			}
			said := strings.Join(r.Leakage["server"], "\n")
			if protocol != "name: pooled" && !strings.Contains(said, `The server learns the weight of each training row exactly (column "factor")`) {
				t.Errorf("%s: leakage says %s", protocol, said)
			}
			_, o, _ = run("")
			if slices.EqualFunc(o.Decisions.Column(0), want, func(a, b float64) bool { return math.Abs(a-b) < 1e-3 }) {
				t.Errorf("%s, %s: the weights change nothing", protocol, learner)
			}
		}
	}
}

// simulateOrPool runs a job with comparisons, by protocol pooled too.
func simulateOrPool(t *testing.T, j *job.Job, load partition.Loader) (*method.Result, *method.Outcome, []partition.Share) {
	t.Helper()
	if !j.Unshared() {
		return simulateAndCompare(t, j, load)
	}
	shares, err := partition.Shares(j, load)
	if err != nil {
		t.Fatal(err)
	}
	r, o, err := baseline.RunPooled(t.Context(), j, shares, t.TempDir())
	if err == nil {
		err = baseline.Compare(t.Context(), nil, j, shares, o, r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r, o, shares
}
