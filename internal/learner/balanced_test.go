package learner

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// balancedGolden is testdata/balanced.json, which testdata/balanced.py wrote.
type balancedGolden struct {
	X      [][]float64
	Labels []string
	Three  balancedMachine
	Binary balancedMachine
}

type balancedMachine struct {
	Decisions [][]float64
	Predicted []string
	Balanced  float64 `json:"balanced_accuracy"`
}

func TestBalancedAsScikitLearn(t *testing.T) {
	var g balancedGolden
	text, err := os.ReadFile("testdata/balanced.json")
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	if err != nil {
		t.Fatal(err)
	}
	x, task := linalg.New[float64](len(g.X), 2), Problem{Labels: g.Labels, Test: make([]bool, len(g.X))}
	for i, row := range g.X {
		copy(x.Row(i), row)
		task.Test[i] = i >= 60
	}
	task.Gram = kernel.LinearGram(x)
	spec := Spec{Kernel: rbf(t), Solver: SVC{Params: svm.Params{C: 2, Tol: 1e-10}, Balanced: true}}
	checkBalanced(t, task, spec, g.Three)
	two := task
	two.Labels = make([]string, len(g.Labels))
	for i, l := range g.Labels {
		two.Labels[i] = map[bool]string{true: "a", false: "b"}[l == "rare"]
	}
	checkBalanced(t, two, spec, g.Binary)
}

func checkBalanced(t *testing.T, task Problem, spec Spec, want balancedMachine) {
	t.Helper()
	f, m := mustFit(t, task, spec)
	if d := cmp.Diff(want.Predicted, f.Predicted); d != "" {
		t.Error(d)
	}
	for i, row := range want.Decisions {
		for k, v := range row {
			if got := f.Decisions.Row(i)[k]; math.Abs(got-v) > 1e-6 { // LIBSVM keeps its kernel in float32
				t.Fatalf("decision %d of row %d is %v, want %v", k, i, got, v)
			}
		}
	}
	if !near(m["balanced_accuracy"], want.Balanced) {
		t.Errorf("balanced accuracy %v, want %v", m["balanced_accuracy"], want.Balanced)
	}
}

// Each fold is weighed by its own training rows, as each fit is.
func TestSearchByAScore(t *testing.T) {
	g := grid(t)
	for i, c := range []float64{0.1, 1, 10} {
		g.Solvers[i] = SVC{Params: svm.Params{C: c, Tol: 1e-8}, Balanced: i > 0}
	}
	for _, score := range []string{"balanced_accuracy", "auc", "f1_macro"} {
		f := Folds{K: 4, Seed: 3, Task: job.Classes()}
		f.Task.Score = score
		task := blobs(60, true)
		s, err := Search(t.Context(), task, g, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range s.Cells {
			if d := cmp.Diff(of(score, byHand(t, task, Spec{Kernel: g.Kernels[i/3], Solver: g.Solvers[i%3]}, f)), c.Scores); d != "" {
				t.Errorf("%s of cell %d: %s", score, i, d)
			}
		}
	}
}

func of(score string, all []Metrics) (list []float64) {
	for _, m := range all {
		list = append(list, m[score])
	}
	return list
}
