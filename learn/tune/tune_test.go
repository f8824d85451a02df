package tune_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/learn/tune"
	"github.com/mercer-fl/mercer/linalg"
)

// task is a data set with its folds.
type task struct {
	x       linalg.Matrix[float64]
	codes   []int
	classes []string
	folds   []tune.Fold
}

// load takes every step-th row of a bundled data set, scaled to [0, 1].
func load(t testing.TB, name string, step, k int) task {
	t.Helper()
	set, err := bundled.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	var rows []int
	for i := 0; i < set.X.Rows(); i += step {
		rows = append(rows, i)
	}
	set = set.Subset(rows)
	x := linalg.New[float64](len(rows), set.X.Cols())
	most := make([]float64, x.Cols)
	for i := range x.Rows {
		set.X.Row(i, x.Row(i))
		for j, v := range x.Row(i) {
			most[j] = max(most[j], v)
		}
	}
	for i := range x.Rows {
		for j := range x.Row(i) {
			x.Row(i)[j] /= max(most[j], 1)
		}
	}
	classes, codes := dataset.Classes(set.Labels)
	tests, err := dataset.Folds(set.Labels, k, 7)
	if err != nil {
		t.Fatal(err)
	}
	out := task{x: x, codes: codes, classes: classes}
	for _, test := range tests {
		out.folds = append(out.folds, tune.Fold{Train: dataset.Complement(x.Rows, test), Test: test})
	}
	return out
}

func kernels(t testing.TB, specs ...kernel.Spec) []kernel.Kernel {
	t.Helper()
	var list []kernel.Kernel
	for _, s := range specs {
		k, err := kernel.New(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, k)
	}
	return list
}

// params has one setting for each C.
func params(tol float64, cs ...float64) []svm.Params {
	var list []svm.Params
	for _, c := range cs {
		list = append(list, svm.Params{C: c, Tol: tol})
	}
	return list
}

// twin counts the right predictions of one cell in each fold: kernel values one
// by one from coordinates, a copy of the matrix for each fold, a cold start.
func twin(t *testing.T, d task, k kernel.Kernel, p svm.Params) (correct []int) {
	t.Helper()
	value := func(i, j int) float64 {
		var xz, xx, zz float64
		for c := range d.x.Cols {
			a, b := d.x.Row(i)[c], d.x.Row(j)[c]
			xz, xx, zz = xz+a*b, xx+a*a, zz+b*b
		}
		return k.At(xz, xx, zz)
	}
	for _, f := range d.folds {
		gram := linalg.New[float64](len(f.Train), len(f.Train))
		codes := make([]int, len(f.Train))
		for a, i := range f.Train {
			codes[a] = d.codes[i]
			for b, j := range f.Train {
				gram.Row(a)[b] = value(i, j)
			}
		}
		c, err := svm.TrainSVC(kernel.Dense{K: gram}, codes, d.classes, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for _, i := range f.Test {
			cross := linalg.New[float64](1, len(c.Support()))
			for s, row := range c.Support() {
				cross.Data[s] = value(i, f.Train[row])
			}
			if c.Predict(c.Decisions(cross))[0] == d.codes[i] {
				right++
			}
		}
		correct = append(correct, right)
	}
	return correct
}

func TestSearchAgreesWithATwin(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	specs := []kernel.Spec{{Name: "linear"}, {Name: "rbf", Gamma: 0.1}, {Name: "polynomial", Gamma: 0.1, Degree: 2}, {Name: "polynomial", Gamma: 0.1, Degree: 5}}
	for _, name := range []string{"wdbc", "digits"} {
		t.Run(name, func(t *testing.T) {
			d := load(t, name, 5, 5)
			search := tune.Search{
				Kernels: kernels(t, specs...), Folds: d.folds,
				Learner: tune.SVC{Codes: d.codes, Classes: d.classes, Params: params(1e-6, 10, 0.01, 1)},
			}
			dot := kernel.LinearGram(d.x)
			before := append([]float64(nil), dot.Data...)
			r, err := search.Run(dot)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(before, dot.Data); d != "" {
				t.Error("the linear Gram matrix has changed")
			}
			best, cell := -1.0, 0
			for i, k := range search.Kernels {
				for s, p := range search.Learner.(tune.SVC).Params {
					want := tune.Cell{Kernel: i, Setting: s}
					for f, right := range twin(t, d, k, p) {
						want.Correct += right
						want.Scores = append(want.Scores, float64(right)/float64(len(d.folds[f].Test)))
						want.Mean += want.Scores[f] / 5
					}
					got := r.Cells[cell]
					if math.Abs(got.Mean-want.Mean) > 1e-15 {
						t.Errorf("mean %v, want %v", got.Mean, want.Mean)
					}
					want.Mean = got.Mean
					if d := cmp.Diff(want, got); d != "" {
						t.Error(d)
					}
					if got.Mean > best {
						best = got.Mean
						if cell > r.Best {
							t.Errorf("cell %d is better than the best, %d", cell, r.Best)
						}
					}
					cell++
				}
			}
			if r.Cells[r.Best].Mean != best || len(r.Cells) != cell {
				t.Errorf("best %d of %d cells", r.Best, len(r.Cells))
			}
		})
	}
}

// Bit for bit the same on one core and on several.
func TestSearchDoesNotDependOnCores(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	d := load(t, "digits", 8, 5)
	search := tune.Search{
		Kernels: kernels(t, kernel.Spec{Name: "rbf", Gamma: 0.1}, kernel.Spec{Name: "rbf", Gamma: 1}), Folds: d.folds,
		Learner: tune.SVC{Codes: d.codes, Classes: d.classes, Params: params(1e-3, 1, 100)},
	}
	dot := kernel.LinearGram(d.x)
	var results []*tune.Result
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, cores := range []int{1, 4, 4} {
		runtime.GOMAXPROCS(cores)
		r, err := search.Run(dot)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	for _, r := range results[1:] {
		if d := cmp.Diff(results[0], r); d != "" {
			t.Error(d)
		}
	}
}

// The outputs belong to the cell that was asked for.
func TestRunFor(t *testing.T) {
	d := load(t, "wdbc", 4, 3)
	search := tune.Search{
		Kernels: kernels(t, kernel.Spec{Name: "rbf", Gamma: 0.1}, kernel.Spec{Name: "linear"}), Folds: d.folds,
		Learner: tune.SVC{Codes: d.codes, Classes: d.classes, Params: params(1e-3, 0.1, 1)},
	}
	dot := kernel.LinearGram(d.x)
	best, err := search.Run(dot)
	if err != nil {
		t.Fatal(err)
	}
	for cell := range best.Cells {
		r, err := search.RunFor(dot, cell)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(best.Cells, r.Cells); d != "" || r.Best != best.Best {
			t.Error(d, r.Best)
		}
		right := 0
		for f, out := range r.Outputs {
			for i, row := range d.folds[f].Test {
				if (out.Row(i)[0] > 0) == (d.codes[row] == 0) {
					right++
				}
			}
		}
		if right != r.Cells[cell].Correct {
			t.Errorf("cell %d: the outputs have %d rows right, the cell %d", cell, right, r.Cells[cell].Correct)
		}
		if same := cmp.Equal(r.Outputs, best.Outputs); same != (cell == best.Best) {
			t.Errorf("cell %d: its outputs are those of the best, %d: %t", cell, best.Best, same)
		}
	}
	if _, err := search.RunFor(dot, 4); err == nil {
		t.Error("a cell beyond the grid")
	}
}

// fake scores what it is told to, setting by fold.
type fake struct {
	scores [][]float64
	err    error
}

func (l fake) Settings() int { return len(l.scores) }

func (l fake) Try(_ kernel.Source, f tune.Fold, tried func() error) ([]tune.Trial, error) {
	if l.err != nil && f.Test[0] == 1 {
		return nil, l.err
	}
	var trials []tune.Trial
	for _, s := range l.scores {
		trials = append(trials, tune.Trial{Score: s[f.Test[0]]})
		if err := tried(); err != nil {
			return nil, err
		}
	}
	return trials, nil
}

func twoFolds() []tune.Fold {
	return []tune.Fold{{Train: []int{1}, Test: []int{0}}, {Train: []int{0}, Test: []int{1}}}
}

func TestTheFirstOfSeveralBestWins(t *testing.T) {
	search := tune.Search{
		Kernels: kernels(t, kernel.Spec{Name: "linear"}, kernel.Spec{Name: "rbf", Gamma: 1}), Folds: twoFolds(),
		Learner: fake{scores: [][]float64{{-3, -1}, {-1, -2}, {-2, -1}}},
	}
	r, err := search.Run(linalg.New[float64](2, 2))
	if err != nil {
		t.Fatal(err)
	}
	if r.Best != 1 || r.Cells[1].Mean != -1.5 {
		t.Errorf("best %d of %v", r.Best, r.Cells)
	}
}

func TestSearchRefuses(t *testing.T) {
	linear := kernels(t, kernel.Spec{Name: "linear"})
	one := fake{scores: [][]float64{{1, 1}}}
	for _, c := range []struct {
		name   string
		search tune.Search
		want   string
	}{
		{"no kernel", tune.Search{Folds: twoFolds(), Learner: one}, "no kernels"},
		{"no settings", tune.Search{Kernels: linear, Folds: twoFolds(), Learner: fake{}}, "no settings"},
		{"one fold", tune.Search{Kernels: linear, Folds: twoFolds()[:1], Learner: one}, "there are 1 folds; give at least two"},
		{"an empty fold", tune.Search{Kernels: linear, Folds: []tune.Fold{{Train: []int{0, 1}}, twoFolds()[1]}, Learner: one}, "fold 1: there are no test rows"},
		{"a row in both", tune.Search{Kernels: linear, Folds: []tune.Fold{twoFolds()[0], {Train: []int{0, 1}, Test: []int{1}}}, Learner: one}, "fold 2: row 1 is in both lists, for training and for testing; remove it from one"},
		{"rows that descend", tune.Search{Kernels: linear, Folds: []tune.Fold{twoFolds()[0], {Train: []int{1, 0}, Test: []int{1}}}, Learner: one}, "fold 2: row 0 follows row 1; rows must increase and be below 2"},
		{"a row too many", tune.Search{Kernels: linear, Folds: []tune.Fold{twoFolds()[0], {Train: []int{2}, Test: []int{1}}}, Learner: one}, "row 2 follows row -1; rows must increase and be below 2"},
		{"a learner that fails", tune.Search{Kernels: linear, Folds: twoFolds(), Learner: fake{scores: one.scores, err: errors.New("no luck")}}, "kernel 1, linear: fold 2: no luck"},
	} {
		r, err := c.search.Run(linalg.New[float64](2, 2))
		if err == nil || !strings.HasPrefix(err.Error(), "tune: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v; want an error with %q", c.name, r, err, c.want)
		}
	}
}

// An error of Progress ends the search within the trials that are under way.
func TestProgressEndsASearch(t *testing.T) {
	enough := errors.New("enough")
	told, after := 0, 3
	search := tune.Search{
		Kernels: kernels(t, kernel.Spec{Name: "linear"}, kernel.Spec{Name: "rbf", Gamma: 1}), Folds: twoFolds(),
		Learner: fake{scores: make([][]float64, 100)},
		Progress: func(done, total int) error {
			if told++; done != told || total != 400 {
				t.Errorf("told %d of %d after %d trials", done, total, told)
			}
			if done >= after {
				return enough
			}
			return nil
		},
	}
	for i := range search.Learner.(fake).scores {
		search.Learner.(fake).scores[i] = []float64{1, 1}
	}
	if r, err := search.Run(linalg.New[float64](2, 2)); !errors.Is(err, enough) {
		t.Errorf("%v, %v; want the error of Progress", r, err)
	}
	if told > after+len(search.Folds)-1 {
		t.Errorf("%d trials, want none after those that were under way at trial %d", told, after)
	}
	told, after = 0, 1000
	if _, err := search.Run(linalg.New[float64](2, 2)); err != nil || told != 400 {
		t.Errorf("%d trials, %v; want all 400", told, err)
	}
}

// Weight 4 for every row is four times the C, and a row of weight 0 takes no part in the training.
func TestRowWeights(t *testing.T) {
	d := load(t, "wdbc", 4, 3)
	dot := kernel.LinearGram(d.x)
	try := func(f tune.Fold, c float64, weights []float64) tune.Trial {
		t.Helper()
		l := tune.SVC{Codes: d.codes, Classes: d.classes, Params: params(1e-9, c), RowWeights: weights}
		trials, err := l.Try(kernel.Dense{K: dot}, f, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		return trials[0]
	}
	whole := d.folds[0]
	fours, some := make([]float64, d.x.Rows), make([]float64, d.x.Rows)
	half := tune.Fold{Test: whole.Test}
	for i, row := range whole.Train {
		fours[row] = 4
		if i%2 == 0 {
			some[row] = 1
			half.Train = append(half.Train, row)
		}
	}
	if d := cmp.Diff(try(whole, 4, nil), try(whole, 1, fours)); d != "" {
		t.Errorf("weights of 4:\n%s", d)
	}
	if d := cmp.Diff(try(half, 1, nil), try(whole, 1, some)); d != "" {
		t.Errorf("weights of 0:\n%s", d)
	}
}
