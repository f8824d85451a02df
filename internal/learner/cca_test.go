package learner

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/mercer-fl/mercer/internal/job"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/cca"
	"github.com/mercer-fl/mercer/linalg"
)

// signal is rows of which columns 0 and 2 follow one number, and columns 1 and 3 nothing.
func signal(n int) linalg.Matrix[float64] {
	rng := rand.New(rand.NewPCG(1, 2))
	x := linalg.New[float64](n, 4)
	for i := range n {
		common := rng.NormFloat64()
		copy(x.Row(i), []float64{common + .3*rng.NormFloat64(), rng.NormFloat64(), 5 - common + .3*rng.NormFloat64(), rng.NormFloat64()})
	}
	return x
}

// cut returns the columns of a view, or the others.
func cut(x linalg.Matrix[float64], columns ...int) linalg.Matrix[float64] {
	out := linalg.New[float64](x.Rows, len(columns))
	for i := range x.Rows {
		copy(out.Row(i), linalg.At(x.Row(i), columns))
	}
	return out
}

// A job's scores are the scores of the library on the two kernels, and whole rows are decided by
// products with rows of one view.
func TestViewsEqualTwoKernels(t *testing.T) {
	const train, held = 60, 15
	x := signal(train + held)
	test := make([]bool, x.Rows)
	for i := train; i < x.Rows; i++ {
		test[i] = true
	}
	l := job.Named{Kind: CCA{}, Values: &CCA{FirstView: []string{"c", "b"}, Components: 2, Regularization: .01}}
	rows, marks, err := InViews(l, x, []string{"a", "b", "c", "d"}, test)
	if err != nil {
		t.Fatal(err)
	}
	f, m := mustFit(t, Problem{Gram: kernel.LinearGram(rows), Test: marks}, method(t, l.Values.(KernelLearner).Solver(0)))
	first, second := cut(x, 2, 1), cut(x, 0, 3)
	want, err := cca.Fit(kernel.Dense{K: kernel.LinearGram(head(first, train))}, kernel.Dense{K: kernel.LinearGram(head(second, train))},
		cca.Params{Components: 2, Regularization: .01})
	if err != nil {
		t.Fatal(err)
	}
	var pair [2][]float64 // the held-out rows' scores of the first pair, in each view
	for side, v := range []cca.View{want.X, want.Y} {
		all := kernel.LinearGram([]linalg.Matrix[float64]{first, second}[side])
		scores := v.Transform(linalg.Matrix[float64]{Rows: held, Cols: train, Stride: all.Stride, Data: all.Data[train*all.Stride:]})
		for i := range held {
			pair[side] = append(pair[side], scores.Row(i)[0])
			for c, s := range scores.Row(i) {
				if got := f.Decisions.Row(i)[2*side+c]; math.Abs(got-s) > 1e-8 {
					t.Fatalf("row %d, view %d, pair %d: score %v, want %v", i, side, c, got, s)
				}
			}
		}
	}
	if !near(m["correlation_training"], want.Correlations[0]) || m["correlation"] < .8 || Examples(l, 2*train) != train {
		t.Errorf("metrics %v, want a correlation_training of %v", m, want.Correlations[0])
	}
	for c, rho := range want.Correlations {
		if len(f.Eigenvalues) != len(want.Correlations) || !near(f.Eigenvalues[c], rho*rho) {
			t.Fatalf("eigenvalues %v, want the squares of the correlations %v", f.Eigenvalues, want.Correlations)
		}
	}
	if r := stat.Correlation(pair[0], pair[1], nil); math.Abs(m["correlation"]-r) > 1e-8 || r > .9999 {
		t.Errorf("the first pair's scores have a correlation of %v, and the metrics say %v", r, m["correlation"])
	}
}

// head returns the first n rows.
func head(x linalg.Matrix[float64], n int) linalg.Matrix[float64] {
	x.Rows = n
	return x
}

func TestViewsThatNoTableHas(t *testing.T) {
	for _, tt := range []struct {
		view []string
		want string
	}{
		{[]string{"z"}, `no column "z"`},
		{[]string{"a", "b"}, "leave some columns for the second view"},
	} {
		l := job.Named{Kind: CCA{}, Values: &CCA{FirstView: tt.view}}
		if _, _, err := InViews(l, linalg.New[float64](1, 2), []string{"a", "b"}, []bool{false}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("view %v: %v, want %q", tt.view, err, tt.want)
		}
	}
}
