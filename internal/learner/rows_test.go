package learner

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/generated"
	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// bothWays returns one problem with a Gram matrix, with sparse rows and with dense rows.
func bothWays(t *testing.T, rows int) (gram, sparse, dense Problem) {
	t.Helper()
	set, err := generated.Marks(rows, 60, .1)
	if err != nil {
		t.Fatal(err)
	}
	test := make([]bool, rows)
	for i := range test {
		test[i] = i%4 == 3
	}
	x := dataset.DenseOf(set.X).Matrix()
	return Problem{Gram: kernel.LinearGram(x), Labels: set.Labels, Test: test},
		Problem{X: dataset.RowsOf(set.X), Labels: set.Labels, Test: test},
		Problem{X: x, Labels: set.Labels, Test: test}
}

// Every learner that reads rows of a matrix learns the same from the rows themselves as from the
// Gram matrix: the decisions differ only by the rounding of kernel values to float32, and a smaller
// cache changes none of them.
func TestRowsInPlaceOfTheGramMatrix(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	gram, sparse, dense := bothWays(t, 600)
	nu := svm.NuParams{Nu: .3, Tol: 1e-6}
	for name, m := range map[string]Solver{
		"svc": SVC{Params: svm.Params{C: 2, Tol: 1e-6}}, "nu-svc": NuSVC{NuParams: nu}, "one-class": OneClass{NuParams: nu},
		"svr": SVR{SVRParams: svm.SVRParams{C: 1, Epsilon: .1, Tol: 1e-6}}, "probability": SVC{Params: svm.Params{C: 2, Tol: 1e-6}, Probability: true, Seed: 3},
	} {
		if _, rowwise := m.(Rowwise); !rowwise {
			t.Errorf("%s needs a whole matrix", name)
		}
		spec := Spec{Kernel: rbf(t), Solver: m}
		want, err := Fit(t.Context(), gram, spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		var first *Fitted
		for _, one := range []Problem{sparse, dense} {
			got, err := Fit(t.Context(), one, spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			if d, err := Difference(want.Decisions, got.Decisions); err != nil || d > 1e-4 || want.Discrete() && !slices.Equal(want.Predicted, got.Predicted) {
				t.Errorf("%s: the decisions differ by %g, %v", name, d, err)
			}
			if first == nil {
				first = got
			}
		}
		small, err := Fit(t.Context(), sparse, Spec{Kernel: spec.Kernel, Solver: tiny(m)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := Difference(first.Decisions, small.Decisions); err != nil || d != 0 {
			t.Errorf("%s: with a smaller cache the decisions differ by %g, %v", name, d, err)
		}
	}
}

// tiny returns the learner with room for 400 rows of a training.
func tiny(m Solver) Solver {
	switch m := m.(type) {
	case SVC:
		m.MiB = 1
		return m
	case NuSVC:
		m.MiB = 1
		return m
	case OneClass:
		m.MiB = 1
		return m
	case SVR:
		m.MiB = 1
		return m
	}
	return nil
}

// A grid is searched on rows as on the Gram matrix, and its units have the same lengths.
func TestSearchOnRows(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	gram, sparse, dense := bothWays(t, 300)
	f := Folds{K: 3, Seed: 1, Task: job.Classes()}
	want, err := Search(t.Context(), gram, grid(t), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, one := range map[string]Problem{"sparse": sparse, "dense": dense} {
		got, err := Search(t.Context(), one, grid(t), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := SearchFor(t.Context(), one, grid(t), f, got.Best)
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range want.Cells {
			if math.Abs(got.Cells[i].Mean-c.Mean) > .005 || again.Cells[i].Mean != got.Cells[i].Mean {
				t.Errorf("%s: cell %d scores %v and again %v, want %v", name, i, got.Cells[i].Mean, again.Cells[i].Mean, c.Mean)
			}
		}
		if d, err := Difference(got.Outputs[0], again.Outputs[0]); err != nil || d != 0 {
			t.Errorf("%s: the best cell's outputs differ by %g, %v", name, d, err)
		}
		for _, u := range []job.GammaUnit{job.Median, job.Norm} {
			g, err := one.gammaUnitValue(u)
			w, other := gram.gammaUnitValue(u)
			if err != nil || other != nil || math.Abs(g-w) > 1e-12*w {
				t.Errorf("%s: unit %s is %v, want %v; %v, %v", name, u, g, w, err, other)
			}
		}
	}
}

// The median distance of more rows than a matrix may have is not measured, and their mean norm is.
func TestLengthOfManyRows(t *testing.T) {
	p := Problem{X: linalg.New[float64](MaxRows+1, 1), Test: make([]bool, MaxRows+1)}
	want := fmt.Sprintf("gamma_unit median is impossible with %d training rows, because at most %d (2 GiB of products) are allowed", MaxRows+1, MaxRows)
	if _, err := p.gammaUnitValue(job.Median); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	if norm, err := p.gammaUnitValue(job.Norm); err != nil || norm != 0 {
		t.Errorf("norm %v, %v", norm, err)
	}
}
