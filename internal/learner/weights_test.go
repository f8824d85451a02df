package learner

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// weighedBlobs returns blobs in which row i has weight i modulo 4, minus 1, so that half of the rows
// do not train. With numbers, labels are numbers.
func weighedBlobs(n int, held, numbers bool) Problem {
	t := blobs(n, held)
	t.Weights = make([]float64, n)
	for i := range n {
		t.Weights[i] = float64(i%4 - 1)
		if numbers {
			t.Labels[i] = map[string]string{"a": "1", "b": "-1", "c": "0.5"}[t.Labels[i]]
		}
	}
	return t
}

// copied returns the problem in which each training row occurs as often as its weight says.
func copied(t Problem) Problem {
	var rows []int
	for i, w := range t.Weights {
		for range int(max(0, w)) {
			if !t.Test[i] {
				rows = append(rows, i)
			}
		}
	}
	for i, held := range t.Test {
		if held {
			rows = append(rows, i)
		}
	}
	return Problem{Gram: part(t.Gram, rows, rows), Labels: linalg.At(t.Labels, rows), Test: linalg.At(t.Test, rows)}
}

// Weight 2 is the same as two equal rows, and weight 0 or less as no row, for each learner that takes
// weights.
func TestWeightsAreCopiesOfRows(t *testing.T) {
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 1})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		solver  Solver
		numbers bool
	}{
		"svc":          {SVC{Params: svm.Params{C: 2, Tol: 1e-10, Weights: map[string]float64{"a": 3}}}, false},
		"nu-svc":       {NuSVC{NuParams: svm.NuParams{Nu: .3, Tol: 1e-10}}, false},
		"one-class":    {OneClass{NuParams: svm.NuParams{Nu: .3, Tol: 1e-10}}, false},
		"svr":          {SVR{SVRParams: svm.SVRParams{C: 2, Epsilon: .1, Tol: 1e-10}}, true},
		"ridge":        {Ridge{Alpha: .5}, true},
		"no weight":    {GP{Noise: .5}, true},
		"balanced svc": {SVC{Params: svm.Params{C: 2, Tol: 1e-10}, Balanced: true}, false},
	} {
		task := weighedBlobs(60, true, tt.numbers)
		if name == "balanced svc" { // it counts rows, not weights
			for i, w := range task.Weights {
				task.Weights[i] = min(w, 1)
			}
		}
		got, _ := mustFit(t, task, Spec{Kernel: k, Solver: tt.solver})
		want, _ := mustFit(t, copied(task), Spec{Kernel: k, Solver: tt.solver})
		difference, err := Difference(got.Decisions, want.Decisions)
		if err != nil {
			t.Fatal(err)
		}
		if equal := difference < 1e-8; equal != (name != "no weight") {
			t.Errorf("%s: decisions with weights and with copies of rows differ by %g", name, difference)
		}
	}
}

// Each fold trains with its own weights, one value of C after another as well as each alone. Rows
// whose weight is 0 or less are tested, and each row counts once.
func TestSearchWithWeights(t *testing.T) {
	task, g, f := weighedBlobs(80, false, false), grid(t), Folds{3, 5, job.Classes()}
	joint, err := Search(t.Context(), task, g, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, is := task.learner(g.Solvers, linalg.Range(0, 80), "accuracy", nil).(separateFits); is {
		t.Error("the values of C are fitted one by one")
	}
	for at, cell := range joint.Cells {
		train, _ := task.Rows()
		folds, err := f.Divide(task.Labels, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, test := range folds {
			one := task
			one.Test = make([]bool, len(train))
			for _, r := range test {
				one.Test[r] = true
			}
			_, m := mustFit(t, one, Spec{Kernel: g.Kernels[cell.Kernel], Solver: g.Solvers[cell.Setting]})
			if math.Abs(m["accuracy"]-cell.Scores[i]) > 1e-12 {
				t.Errorf("cell %d, fold %d: accuracy %v, by hand %v", at, i, cell.Scores[i], m["accuracy"])
			}
		}
	}
	unweighted := task
	unweighted.Weights = nil
	plain, err := Search(t.Context(), unweighted, g, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	if slices.EqualFunc(plain.Outputs, joint.Outputs, func(a, b linalg.Matrix[float64]) bool {
		d, err := Difference(a, b)
		return err == nil && d < 1e-6
	}) {
		t.Error("the weights change nothing")
	}
}

// A class whose rows all have weight 0 or less is none: it is predicted for no row, and its rows count
// as wrong. A class with one row that trains has too few rows for folds.
func TestAClassWithoutWeight(t *testing.T) {
	task, g := blobs(60, false), grid(t)
	task.Weights = make([]float64, 60)
	for i, label := range task.Labels {
		if label != "c" {
			task.Weights[i] = 1
		}
	}
	s, err := Search(t.Context(), task, g, Folds{3, 5, job.Classes()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for _, label := range task.Labels {
		if label != "c" {
			right++
		}
	}
	if best := s.Cells[s.Best]; best.Correct > right || best.Correct < right/2 {
		t.Errorf("%d of 60 rows are right, %d of them are of classes that train", best.Correct, right)
	}
	classes, _ := dataset.Classes(task.Labels)
	if f, _ := mustFit(t, Problem{Gram: task.Gram, Labels: task.Labels, Test: blobs(60, true).Test, Weights: task.Weights}, Spec{Kernel: g.Kernels[0], Solver: g.Solvers[0]}); len(f.Head.Classes) != len(classes)-1 {
		t.Errorf("the model has classes %q", f.Head.Classes)
	}
	task.Weights[slices.Index(task.Labels, "c")] = 1
	if _, err := Search(t.Context(), task, g, Folds{3, 5, job.Classes()}, nil); !errors.Is(err, ErrFewRows) {
		t.Errorf("one row of a class trains: %v", err)
	}
}
