package mercer_test

import (
	"bytes"
	"errors"
	"math"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/moments"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// wdbc returns rows of breast tumours and their classes, a quarter of them held out.
func wdbc(t *testing.T) (rows [][]float64, labels []string, train, test []int) {
	t.Helper()
	set, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	x := dataset.DenseOf(set.X).Matrix()
	for i := range x.Rows {
		rows = append(rows, x.Row(i))
	}
	train, test, err = dataset.Split(set.Labels, 0.25, 1)
	if err != nil {
		t.Fatal(err)
	}
	return rows, set.Labels, train, test
}

func pick[T any](from []T, index []int) (out []T) {
	for _, i := range index {
		out = append(out, from[i])
	}
	return out
}

// Fit finds, bit for bit, the machine that the packages below find by hand.
func TestFitIsTrainSVC(t *testing.T) {
	rows, labels, train, test := wdbc(t)
	m, err := mercer.Fit(pick(rows, train), pick(labels, train), mercer.SVC{C: 10}, mercer.RBF{Gamma: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	x, z := linalg.New[float64](len(train), len(rows[0])), linalg.New[float64](len(test), len(rows[0]))
	for i, r := range train {
		copy(x.Row(i), rows[r])
	}
	for i, r := range test {
		copy(z.Row(i), rows[r])
	}
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	classes, codes := dataset.Classes(pick(labels, train))
	c, err := svm.TrainSVC(kernel.Of(kernel.LinearGram(x), k), codes, classes, svm.Params{C: 10}, nil)
	if err != nil {
		t.Fatal(err)
	}
	support := linalg.New[float64](len(c.Support()), x.Cols)
	for i, r := range c.Support() {
		copy(support.Row(i), x.Row(r))
	}
	cross := kernel.CrossGram(z, support)
	kernel.Cross(k, cross, kernel.SquaredNorms(z), kernel.SquaredNorms(support))
	want := c.Decisions(cross)
	got, err := m.Decisions(pick(rows, test))
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if !slices.Equal(got[i], want.Row(i)) {
			t.Fatalf("row %d: %v, want %v", i, got[i], want.Row(i))
		}
	}
}

// right returns the share of predictions that are true.
func right(t *testing.T, m *mercer.Model, rows [][]float64, labels []string) float64 {
	t.Helper()
	predicted, err := m.Predict(rows)
	if err != nil || len(predicted) != len(labels) {
		t.Fatalf("%d predictions for %d rows, error %v", len(predicted), len(labels), err)
	}
	hits := 0
	for i, p := range predicted {
		if p == labels[i] {
			hits++
		}
	}
	return float64(hits) / float64(len(labels))
}

func TestClassifiersTellTumoursApart(t *testing.T) {
	rows, labels, train, test := wdbc(t)
	for name, tt := range map[string]struct {
		learner mercer.Learner
		kernel  mercer.Kernel
	}{
		"the defaults":              {mercer.SVC{}, mercer.RBF{}},
		"columns from 0 to 1":       {mercer.SVC{C: 10}, mercer.MinMax{Kernel: mercer.RBF{}}},
		"columns of one deviation":  {mercer.SVC{}, mercer.Standard{Kernel: mercer.Linear{}}},
		"a nu-SVC":                  {mercer.NuSVC{Nu: 0.2}, mercer.MinMax{Kernel: mercer.RBF{}}},
		"weights":                   {mercer.SVC{Weights: map[string]float64{"0": 3}}, mercer.MinMax{Kernel: mercer.Laplacian{}}},
		"a polynomial":              {mercer.SVC{}, mercer.MinMax{Kernel: mercer.Polynomial{Gamma: 1, Coef0: 1, Degree: 2}}},
		"a Matérn kernel":           {mercer.SVC{C: 10}, mercer.MinMax{Kernel: mercer.Matern{}}},
		"a rational quadratic one":  {mercer.SVC{C: 10}, mercer.MinMax{Kernel: mercer.RationalQuadratic{}}},
		"angles":                    {mercer.SVC{C: 10}, mercer.Standard{Kernel: mercer.Cosine{}}},
		"the coefficient of counts": {mercer.SVC{C: 10}, mercer.MinMax{Kernel: mercer.Tanimoto{}}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := mercer.Fit(pick(rows, train), pick(labels, train), tt.learner, tt.kernel)
			if err != nil {
				t.Fatal(err)
			}
			if share := right(t, m, pick(rows, test), pick(labels, test)); share < 0.9 {
				t.Errorf("%.3f of the rows are right", share)
			}
			again(t, m, pick(rows, test))
		})
	}
}

// again saves a model, reads it back, and compares predictions and bytes.
func again(t *testing.T, m *mercer.Model, rows [][]float64) {
	t.Helper()
	var file, second bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	b := bytes.Clone(file.Bytes())
	loaded, err := mercer.Load(&file)
	if err != nil {
		t.Fatal(err)
	}
	if err := loaded.Save(&second); err != nil || !bytes.Equal(b, second.Bytes()) {
		t.Errorf("%d bytes, read and saved again %d others, error %v", len(b), second.Len(), err)
	}
	want, err := m.Decisions(rows)
	if err != nil {
		t.Fatal(err)
	}
	got, err := loaded.Decisions(rows)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%s, error %v", d, err)
	}
}

func TestRegressorsFollowASine(t *testing.T) {
	var rows, between [][]float64
	var y, truth []float64
	for i := range 40 {
		x := float64(i) / 4
		rows, y = append(rows, []float64{x}), append(y, 5+math.Sin(x))
		between, truth = append(between, []float64{x + 0.1}), append(truth, 5+math.Sin(x+0.1))
	}
	for name, tt := range map[string]struct {
		regressor mercer.Regressor
		numbers   int
	}{
		"SVR": {mercer.SVR{C: 10, Epsilon: 0.01}, 1}, "ridge": {mercer.Ridge{Alpha: 0.01}, 1}, "a Gaussian process": {mercer.GP{Noise: 0.001}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := mercer.FitNumbers(rows, y, tt.regressor, mercer.RBF{Gamma: 1})
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.PredictNumbers(between)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got[:len(got)-2] { // the last lie beside the training rows
				if math.Abs(v-truth[i]) > 0.1 {
					t.Errorf("at %v it is %v, the truth %v", between[i], v, truth[i])
				}
			}
			if d, err := m.Decisions(between[:1]); err != nil || len(d[0]) != tt.numbers || d[0][0] != got[0] {
				t.Errorf("decisions %v beside %v, error %v", d, got[0], err)
			}
			again(t, m, between)
		})
	}
}

func TestLearnersWithoutLabels(t *testing.T) {
	rows := [][]float64{{0, 0}, {0, 1}, {1, 0}, {9, 9}, {9, 8}, {8, 9}}
	clusters, err := mercer.Fit(rows, nil, mercer.KMeans{Clusters: 2, Seed: 3}, mercer.Linear{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := clusters.Predict(rows); err != nil || !slices.Equal(got, []string{"0", "0", "0", "1", "1", "1"}) {
		t.Errorf("clusters %v, error %v", got, err)
	}
	region, err := mercer.Fit(rows[:3], nil, mercer.OneClass{}, mercer.RBF{Gamma: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := region.Predict([][]float64{{0.4, 0.4}, {9, 9}}); err != nil || !slices.Equal(got, []string{"1", "-1"}) {
		t.Errorf("inside and outside %v, error %v", got, err)
	}
}

// The default of gamma is scikit-learn's "scale".
func TestGammaIsOneOverColumnsTimesVariance(t *testing.T) {
	rows := [][]float64{{1, 2}, {3, 6}} // mean 3, variance 14/4
	for name, tt := range map[string]struct {
		kernel mercer.Kernel
		want   kernel.Spec
	}{
		"left at 0":          {mercer.RBF{}, kernel.Spec{Name: "rbf", Gamma: 1. / 7}},
		"given":              {mercer.RBF{Gamma: 2}, kernel.Spec{Name: "rbf", Gamma: 2}},
		"of scaled rows":     {mercer.MinMax{Kernel: mercer.RBF{}}, kernel.Spec{Name: "rbf", Gamma: 2}}, // 0, 0, 1, 1
		"of a sum of powers": {mercer.DotProduct{Coefficients: []float64{1, 2}}, kernel.Spec{Name: "dot-product", Coefficients: []float64{1, 2}}},
		"of a polynomial":    {mercer.Polynomial{}, kernel.Spec{Name: "polynomial", Gamma: 1. / 7, Degree: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := mercer.Fit(rows, []string{"a", "b"}, mercer.SVC{}, tt.kernel)
			if err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			if err := m.Save(&file); err != nil {
				t.Fatal(err)
			}
			opened, err := model.Open(&file)
			if err != nil {
				t.Fatal(err)
			}
			got := opened.Kernel()
			if math.Abs(got.Gamma-tt.want.Gamma) > 1e-15 {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
			if got.Gamma = tt.want.Gamma; !cmp.Equal(got, tt.want) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
	if _, err := mercer.Fit([][]float64{{3}, {3}}, []string{"a", "b"}, mercer.SVC{}, mercer.RBF{}); err != nil {
		t.Errorf("equal rows: %v", err)
	}
}

// Load reads what a job on random features leaves, and refuses what stays with a
// coordinator.
func TestLoadReadsModelsOfJobs(t *testing.T) {
	random, err := model.NewRandom(model.RandomSpec{
		Output: model.Output{Kind: model.Ridge}, Kernel: kernel.Spec{Name: "rbf", Gamma: 1},
		Solution: moments.Solution{Weights: linalg.Matrix[float64]{Rows: 1, Cols: 2, Stride: 2, Data: []float64{1, 2}}, Offset: []float64{3}, Alpha: 1},
		Width:    2, Columns: []string{"age", "dose"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := model.EncodeRandom(&file, random); err != nil {
		t.Fatal(err)
	}
	m, err := mercer.Load(&file)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Columns(); !slices.Equal(got, []string{"age", "dose"}) {
		t.Errorf("columns %q", got)
	}
	if got, err := m.PredictNumbers([][]float64{{1, 2}}); err != nil || len(got) != 1 {
		t.Errorf("%v, error %v", got, err)
	}
	again(t, m, [][]float64{{1, 2}, {3, 4}})

	public, err := model.New(kernel.Spec{Name: "linear"}, nil, linalg.Matrix[float64]{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1}},
		model.Head{Output: model.Output{Kind: model.Ridge}, Functions: []model.Function{model.Dense([]float64{1}, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	private, err := model.NewPrivate(public)
	if err != nil {
		t.Fatal(err)
	}
	file.Reset()
	if err := model.EncodePrivate(&file, private); err != nil {
		t.Fatal(err)
	}
	if _, err := mercer.Load(&file); !errors.Is(err, model.ErrPrivate) {
		t.Errorf("a private model: %v", err)
	}
}

// A program that fits a model links neither a broker nor a command line.
func TestDoorIsLight(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "github.com/mercer-fl/mercer/learn/svm\n") {
		t.Fatalf("%v: error %v, it says %q", cmd, err, out)
	}
	for line := range strings.Lines(string(out)) {
		for _, heavy := range []string{"nats", "cobra", "pflag", "prometheus", "internal/cli", "transport"} {
			if strings.Contains(line, heavy) {
				t.Errorf("it links %s", line)
			}
		}
	}
}

// The door fits one screen.
func TestDocumentationFitsOneScreen(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "doc", ".").Output()
	if err != nil || !strings.Contains(string(out), "func Fit(") {
		t.Fatalf("error %v, it says %q", err, out)
	}
	if lines := strings.Count(string(out), "\n"); lines > 50 {
		t.Errorf("%d lines, at most 50", lines)
	}
}
