package learner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// targets returns blobs with numbers far from 0 as labels.
func targets(n int) Problem {
	t := blobs(n, false)
	for i := range t.Labels {
		t.Labels[i] = fmt.Sprint(1000 + 3*math.Sin(float64(i)) + float64(i%3))
	}
	return t
}

// eachByFit returns the decisions of separate fits, each without the row that it decides.
func eachByFit(t *testing.T, task Problem, l Spec) linalg.Matrix[float64] {
	t.Helper()
	var out linalg.Matrix[float64]
	for i := range task.Test {
		one := task
		one.Test = make([]bool, len(task.Test))
		one.Test[i] = true
		f, err := Fit(t.Context(), one, l, nil)
		if err != nil {
			t.Fatal(err)
		}
		if out.Rows == 0 {
			out = linalg.New[float64](len(task.Test), f.Decisions.Cols)
		}
		copy(out.Row(i), f.Decisions.Row(0))
	}
	return out
}

// Leave-one-out decides each row as a separate fit without the row does, with deviations, weights and
// classes. Ridge and the Gaussian process need no separate fits.
func TestLeaveOneOutIsSeparateFits(t *testing.T) {
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 1})
	if err != nil {
		t.Fatal(err)
	}
	unequal := func(p Problem) Problem {
		p.Weights = make([]float64, len(p.Labels))
		for i := range p.Weights {
			p.Weights[i] = float64(i*i%7)/3 - .3 // one of them is below 0 in 7
		}
		return p
	}
	heavy := targets(30)
	heavy.Weights = slices.Repeat([]float64{1e-6}, 30)
	heavy.Weights[4] = 1e6
	for name, tt := range map[string]struct {
		solver    Solver
		task      Problem
		exact     bool
		tolerance float64
	}{
		"ridge":                {Ridge{Alpha: .3}, targets(70), true, 1e-9},
		"weighted ridge":       {Ridge{Alpha: .3}, unequal(targets(70)), true, 1e-9},
		"ridge of a heavy row": {Ridge{Alpha: 1e-6}, heavy, true, 1e-9},
		"two rows":             {Ridge{Alpha: .3}, targets(2), true, 1e-9},
		"gp":                   {GP{Noise: .2}, targets(70), true, 1e-9},
		"svc":                  {SVC{Params: svm.Params{C: 2, Tol: 1e-6}}, blobs(40, false), false, 0},
		"weighted svc":         {SVC{Params: svm.Params{C: 2, Tol: 1e-6}}, unequal(blobs(40, false)), false, 0},
		"svr":                  {SVR{SVRParams: svm.SVRParams{C: 2, Epsilon: .1, Tol: 1e-6}}, targets(30), false, 0},
	} {
		rows, _ := tt.task.Rows()
		f, err := tt.task.leftOut(tt.task.matrix(k), rows, tt.task.weighted(rows), tt.solver, neverStops)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, can := tt.solver.(leaveOneOuter); can != tt.exact {
			t.Errorf("%s: exact %t", name, can)
		}
		want := eachByFit(t, tt.task, Spec{Kernel: k, Solver: tt.solver})
		difference, err := Difference(f.Decisions, want)
		if err != nil || difference > tt.tolerance*(1+math.Abs(want.Data[0])) {
			t.Errorf("%s: decisions differ by %g from those of separate fits, %v", name, difference, err)
		}
	}
}

func neverStops() error { return nil }

// The score of a cell is over all rows together: the R2 of the predictions of all left-out rows. The
// best cell's predictions are the result's, and so are those of a cell that the caller names.
func TestSearchEachRow(t *testing.T) {
	task, f := targets(50), Folds{K: job.EachRow, Task: job.Numbers()}
	g := Grid{Kernels: grid(t).Kernels, Solvers: []Solver{Ridge{Alpha: 10}, Ridge{Alpha: .01}}}
	var seen []int
	s, err := Search(t.Context(), task, g, f, func(done, total int) error {
		seen = append(seen, done*10+total)
		return nil
	})
	if err != nil || !slices.Equal(seen, []int{16, 26, 36, 46, 56, 66}) {
		t.Fatalf("progress %v, %v", seen, err)
	}
	truth, err := parseNumbers(task.Labels)
	if err != nil {
		t.Fatal(err)
	}
	for at, cell := range s.Cells {
		l := Spec{Kernel: g.Kernels[cell.Kernel], Solver: g.Solvers[cell.Setting]}
		own, err := SearchFor(t.Context(), task, g, f, at)
		if err != nil {
			t.Fatal(err)
		}
		want := eachByFit(t, task, l)
		if d, err := Difference(own.Outputs[0], want); err != nil || d > 1e-8 {
			t.Errorf("cell %d: %g, %v", at, d, err)
		}
		mean, residual, total := 0., 0., 0.
		for _, y := range truth {
			mean += y / float64(len(truth))
		}
		for i, y := range truth {
			residual, total = residual+(y-want.Row(i)[0])*(y-want.Row(i)[0]), total+(y-mean)*(y-mean)
		}
		if r2 := 1 - residual/total; len(cell.Scores) != 1 || math.Abs(cell.Mean-r2) > 1e-9 || cell.Scores[0] != cell.Mean || cell.Mean > s.Cells[s.Best].Mean {
			t.Errorf("cell %d: scores %v, want %v", at, cell.Scores, r2)
		}
		if at == s.Best {
			fitted, _ := mustFit(t, Problem{Gram: task.Gram, Labels: task.Labels, Test: blobs(50, true).Test}, l)
			m, err := s.Unseen(fitted, task).Measure()
			if err != nil || math.Abs(m["r2"]-cell.Mean) > 1e-12 || m["rmse"] == 0 {
				t.Errorf("metrics %v, %v", m, err)
			}
		}
	}
	byError := Folds{K: job.EachRow, Task: job.Numbers()}
	byError.Task.Score = "rmse"
	low, err := Search(t.Context(), task, g, byError, nil)
	if err != nil || low.Best != s.Best {
		t.Errorf("the cell with the lowest error is %v, with the highest R2 %d, %v", low, s.Best, err)
	}
}

// Classes are counted over all rows. Too many rows for one fit each, one row and a class of one row
// are refused.
func TestSearchEachRowOfClasses(t *testing.T) {
	f, g := Folds{K: job.EachRow, Task: job.Classes()}, grid(t)
	g.Kernels, g.Solvers = g.Kernels[:1], g.Solvers[:1]
	task := blobs(45, false)
	s, err := Search(t.Context(), task, g, f, nil)
	if err != nil || s.Cells[0].Mean != float64(s.Cells[0].Correct)/45 || s.Rows() != 45 || s.Cells[0].Correct < 20 {
		t.Errorf("%+v, %v", s, err)
	}
	for want, tt := range map[string]struct {
		task Problem
		f    Folds
		g    Grid
	}{
		"\"folds: each\" fits this learner once for each of 501 training rows, but at most 500 are allowed; write \"folds: 10\", or use ridge or gp": {blobs(501, false), f, g},
		"\"folds: each\" needs two training rows or more": {targets(1), Folds{K: job.EachRow, Task: job.Numbers()}, Grid{g.Kernels, []Solver{Ridge{Alpha: 1}}}},
		ErrFewRows.Error(): {Problem{Gram: task.Gram, Labels: slices.Replace(slices.Repeat([]string{"a"}, 45), 3, 4, "b"), Test: task.Test}, f, g},
		ErrNumbers.Error(): {Problem{Gram: task.Gram, Labels: task.Labels, Test: task.Test}, Folds{K: job.EachRow, Task: job.Numbers()}, Grid{g.Kernels, []Solver{GP{Noise: 1}}}},
	} {
		if _, err := Search(t.Context(), tt.task, tt.g, tt.f, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	stop := errors.New("enough")
	if _, err := Search(t.Context(), task, g, f, func(int, int) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for _, solver := range []Solver{g.Solvers[0], Ridge{Alpha: 1}} {
		one := task
		if _, is := solver.(Ridge); is {
			one = targets(45)
		}
		if _, err := Search(ended, one, Grid{g.Kernels, []Solver{solver}}, Folds{K: job.EachRow, Task: job.Task{}}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted: %v", err)
		}
	}
}
