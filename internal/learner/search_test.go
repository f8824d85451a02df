package learner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// blobs has rows of three overlapping classes; every fifth row is held out if
// asked for.
func blobs(n int, held bool) Problem {
	centres := [][2]float64{{0, 0}, {1, 0}, {0.5, 1}}
	x := linalg.New[float64](n, 2)
	t := Problem{Labels: make([]string, n), Test: make([]bool, n)}
	for i := range n {
		c := i * i % 7 % 3
		t.Labels[i] = string(rune('a' + c))
		x.Row(i)[0] = centres[c][0] + math.Sin(float64(3*i))/2
		x.Row(i)[1] = centres[c][1] + math.Cos(float64(5*i))/2
		t.Test[i] = held && i%5 == 4
	}
	t.Gram = kernel.LinearGram(x)
	return t
}

func grid(t *testing.T) Grid {
	t.Helper()
	var g Grid
	for _, gamma := range []float64{0.1, 1, 10} {
		k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: gamma})
		if err != nil {
			t.Fatal(err)
		}
		g.Kernels = append(g.Kernels, k)
	}
	for _, c := range []float64{0.1, 1, 10} {
		g.Solvers = append(g.Solvers, SVC{Params: svm.Params{C: c, Tol: 1e-8}})
	}
	return g
}

// byHand returns the figures of each fold of one cell: a Fit for each fold.
func byHand(t *testing.T, task Problem, l Spec, f Folds) []Metrics {
	t.Helper()
	train, _ := task.Rows()
	folds, err := f.Divide(linalg.At(task.Labels, train), nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []Metrics
	for _, fold := range folds {
		rows := append(linalg.At(train, dataset.Complement(len(train), fold)), linalg.At(train, fold)...)
		one := Problem{Gram: linalg.New[float64](len(rows), len(rows)), Labels: linalg.At(task.Labels, rows), Test: make([]bool, len(rows))}
		for a, i := range rows {
			for b, j := range rows {
				one.Gram.Row(a)[b] = task.Gram.Row(i)[j]
			}
			one.Test[a] = a >= len(rows)-len(fold)
		}
		fitted, err := Fit(t.Context(), one, l, nil)
		if err != nil {
			t.Fatal(err)
		}
		m, err := fitted.Measure()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// Rows of one group are tried together, whatever their labels.
func TestFoldsOfGroups(t *testing.T) {
	labels, groups := []string{"a", "b", "a", "b", "a", "b"}, []string{"1", "1", "2", "2", "3", "3"}
	folds, err := Folds{K: 3, Seed: 1, Task: job.Classes()}.Divide(labels, groups)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range folds {
		if len(f) != 2 || groups[f[0]] != groups[f[1]] {
			t.Errorf("a fold of rows %v", f)
		}
	}
	if _, err := (Folds{K: 4, Task: job.Classes()}).Divide(labels, groups); err == nil {
		t.Error("four folds of three groups")
	}
}

func TestSearchAgreesWithFits(t *testing.T) {
	f := Folds{K: 4, Seed: 3, Task: job.Classes()}
	g := grid(t)
	for _, held := range []bool{false, true} {
		task := blobs(60, held)
		s, err := Search(t.Context(), task, g, f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{false: 60, true: 48}[held]; s.Rows() != want {
			t.Errorf("%d rows, want %d", s.Rows(), want)
		}
		for i, c := range s.Cells {
			l := Spec{Kernel: g.Kernels[i/3], Solver: g.Solvers[i%3]}
			var want []float64
			for _, m := range byHand(t, task, l, f) {
				want = append(want, m["accuracy"])
			}
			if d := cmp.Diff(want, c.Scores); d != "" {
				t.Errorf("held out %t, cell %d: %s", held, i, d)
			}
		}
	}
}

// Every learner that has a score is searched as it is fitted, and what was
// decided about rows while they were held out has the figures of its folds.
func TestSearchOfEveryLearner(t *testing.T) {
	nu := func(v float64) svm.NuParams { return svm.NuParams{Nu: v, Tol: 1e-8} }
	svr := func(c float64) svm.SVRParams { return svm.SVRParams{C: c, Epsilon: 0.05, Tol: 1e-8} }
	for name, methods := range map[string][]Solver{
		"nu-svc": {NuSVC{NuParams: nu(0.1)}, NuSVC{NuParams: nu(0.3)}},
		"svr":    {SVR{SVRParams: svr(1)}, SVR{SVRParams: svr(10)}},
		"ridge":  {Ridge{Alpha: 1e-3}, Ridge{Alpha: 1}},
		"gp":     {GP{Noise: 1e-2}, GP{Noise: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			task, g, f := blobs(60, true), grid(t), Folds{K: 4, Seed: 3, Task: job.Numbers()}
			if name == "nu-svc" {
				f.Task = job.Classes()
			}
			if f.Task.Numbers {
				for i := range task.Labels {
					task.Labels[i] = fmt.Sprint(math.Round(100 * math.Sin(task.Gram.Row(i)[i])))
				}
			}
			g.Solvers = methods
			s, err := Search(t.Context(), task, g, f, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range s.Cells {
				for k, m := range byHand(t, task, Spec{Kernel: g.Kernels[i/2], Solver: methods[i%2]}, f) {
					if want := m[f.Task.Score]; math.Abs(c.Scores[k]-want) > 1e-9 {
						t.Errorf("cell %d, fold %d: %v, want %v", i, k, c.Scores[k], want)
					}
				}
				if (c.Correct > 0) == f.Task.Numbers || f.Task.Numbers != (f.Task.Score == "r2") {
					t.Errorf("cell %d: %d rows right by %s", i, c.Correct, f.Task.Score)
				}
			}
			checkUnseen(t, task, g, f)
		})
	}
}

// checkUnseen holds out no row but in folds.
func checkUnseen(t *testing.T, task Problem, g Grid, f Folds) {
	t.Helper()
	task.Test = make([]bool, len(task.Labels))
	s, err := Search(t.Context(), task, g, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := Spec{Kernel: g.Kernels[s.Best/2], Solver: g.Solvers[s.Best%2]}
	refit, err := Fit(t.Context(), task, l, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Unseen(refit, task).Measure()
	if err != nil {
		t.Fatal(err)
	}
	want := Mean(byHand(t, task, l, f))
	if _, has := want["log_marginal_likelihood"]; has { // of the model itself
		want["log_marginal_likelihood"] = refit.figures["log_marginal_likelihood"]
	}
	if len(got) != len(want) {
		t.Errorf("%v, want %v", got, want)
	}
	for name, v := range want {
		if math.Abs(got[name]-v) > 1e-9*max(1, math.Abs(v)) {
			t.Errorf("%s is %v, want %v", name, got[name], v)
		}
	}
}

// Where nothing else is held out, the figures are the means over the folds, and the decisions
// come from the folds' classifiers.
func TestUnseen(t *testing.T) {
	task, g, f := blobs(60, false), grid(t), Folds{K: 4, Seed: 3, Task: job.Classes()}
	s, err := Search(t.Context(), task, g, f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range []int{s.Best, 0} {
		s, err := SearchFor(t.Context(), task, g, f, cell)
		if err != nil {
			t.Fatal(err)
		}
		l := Spec{Kernel: g.Kernels[cell/3], Solver: g.Solvers[cell%3]}
		refit, err := Fit(t.Context(), task, l, nil)
		if err != nil {
			t.Fatal(err)
		}
		unseen := s.Unseen(refit, task)
		got, err := unseen.Measure()
		if err != nil {
			t.Fatal(err)
		}
		want := Mean(byHand(t, task, l, f))
		for name, v := range want {
			if math.Abs(got[name]-v) > 1e-12 {
				t.Errorf("cell %d: %s is %v, want %v", cell, name, got[name], v)
			}
		}
		if len(got) != len(want) || math.Abs(got["accuracy"]-s.Cells[cell].Mean) > 1e-15 {
			t.Errorf("cell %d: %v, want %v and the cell's mean %v", cell, got, want, s.Cells[cell].Mean)
		}
		if d := cmp.Diff(task.Labels, unseen.Truth); d != "" || unseen.Decisions.Rows != 60 {
			t.Errorf("%d decisions, truth: %s", unseen.Decisions.Rows, d)
		}
		if len(refit.Truth) != 0 || len(refit.Predicted) != 0 {
			t.Error("the fitted classifier was changed")
		}
	}
}

func TestSearchRefuses(t *testing.T) {
	single := blobs(60, false)
	single.Labels[7] = "z"
	oneClass := blobs(60, false)
	for i := range oneClass.Labels {
		oneClass.Labels[i] = "a"
	}
	weighted := grid(t)
	weighted.Solvers[0] = SVC{Params: svm.Params{C: 1, Weights: map[string]float64{"nobody": 2}}}
	for _, c := range []struct {
		name string
		task Problem
		grid Grid
		k    int
		want error

		prefix string
	}{
		{"a class of one row", single, grid(t), 4, ErrFewRows, "learner: "},
		{"one class", oneClass, grid(t), 4, ErrOneClass, "learner: "},
		{"more folds than rows", blobs(60, false), grid(t), 61, nil, "folds: 61 does not fit the table: "},
		{"what the learner refuses", blobs(60, false), weighted, 4, nil, "learner: "},
	} {
		_, err := Search(t.Context(), c.task, c.grid, Folds{K: c.k, Seed: 1, Task: job.Classes()}, nil)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), c.prefix) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	same, ridge := blobs(60, false), grid(t)
	for i := range same.Labels {
		same.Labels[i] = "7"
	}
	ridge.Solvers = []Solver{Ridge{Alpha: 1}}
	if _, err := Search(t.Context(), same, ridge, Folds{K: 4, Task: job.Numbers()}, nil); !errors.Is(err, ErrNoScore) {
		t.Errorf("numbers that are all the same: %v", err)
	}
	if _, err := SearchFor(t.Context(), blobs(60, false), grid(t), Folds{K: 4, Task: job.Classes()}, 9); err == nil {
		t.Error("a cell beyond the grid")
	}
}

func TestMean(t *testing.T) {
	got := Mean([]Metrics{{"accuracy": 1, "auc": 1}, {"accuracy": 0.5}})
	if d := cmp.Diff(Metrics{"accuracy": 0.75}, got); d != "" {
		t.Error(d)
	}
}

func TestSearchTellsProgress(t *testing.T) {
	var told []string
	tell := func(done, total int) error {
		told = append(told, fmt.Sprint(done, "/", total))
		return nil
	}
	g := grid(t)
	trials := len(g.Kernels) * len(g.Solvers) * 2
	var want []string
	for i := range trials {
		want = append(want, fmt.Sprint(i+1, "/", trials))
	}
	_, err := Search(t.Context(), blobs(30, false), g, Folds{K: 2, Task: job.Classes()}, tell)
	if d := cmp.Diff(want, told); err != nil || d != "" {
		t.Error(err, d)
	}
}

// An error of progress ends a search, whether settings are trained each from the
// one before or each from nothing.
func TestProgressEndsASearch(t *testing.T) {
	enough := errors.New("enough")
	for name, methods := range map[string][]Solver{
		"svc":    {SVC{Params: svm.Params{C: 1}}, SVC{Params: svm.Params{C: 2}}},
		"nu-svc": {NuSVC{NuParams: svm.NuParams{Nu: 0.1}}, NuSVC{NuParams: svm.NuParams{Nu: 0.2}}},
	} {
		told := 0
		_, err := Search(t.Context(), blobs(30, false), Grid{Kernels: grid(t).Kernels, Solvers: methods}, Folds{K: 2, Task: job.Classes()}, func(int, int) error {
			told++
			return enough
		})
		if !errors.Is(err, enough) || told > 2 { // both folds may be under way
			t.Errorf("%s: %v after %d trials", name, err, told)
		}
	}
}

// A search ends with the context within the trainings that are under way.
func TestSearchEndsWithTheContext(t *testing.T) {
	for name, methods := range map[string][]Solver{
		"svc":    {SVC{Params: svm.Params{C: 1}}, SVC{Params: svm.Params{C: 2}}},
		"nu-svc": {NuSVC{NuParams: svm.NuParams{Nu: 0.1}}, NuSVC{NuParams: svm.NuParams{Nu: 0.2}}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		told := 0
		_, err := Search(ctx, blobs(30, false), Grid{Kernels: grid(t).Kernels, Solvers: methods}, Folds{K: 2, Task: job.Classes()}, func(int, int) error {
			told++
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) || told > 2 { // both folds may be under way
			t.Errorf("%s: %v after %d trials", name, err, told)
		}
	}
}
