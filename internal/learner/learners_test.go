package learner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/kmeans"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/model"
)

// method is linear with another method.
func method(t *testing.T, m Solver) Spec {
	l := straight(t)
	l.Solver = m
	return l
}

func mustFit(t *testing.T, task Problem, l Spec) (*Fitted, Metrics) {
	t.Helper()
	f, err := Fit(t.Context(), task, l, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Measure()
	if err != nil {
		t.Fatal(err)
	}
	return f, m
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }

// Ridge by hand: targets 9, 11, mean 10; w = (1+1)/(2+alpha) on rows -1, 1.
func TestRidgeByHand(t *testing.T) {
	f, m := mustFit(t, line(2, []string{"9", "11", "10.5", "14"}, -1, 1, 2, 3), method(t, Ridge{Alpha: 2}))
	if !near(f.Decisions.Row(0)[0], 11) || !near(f.Decisions.Row(1)[0], 11.5) {
		t.Errorf("predictions %v, want 11 and 11.5", f.Decisions.Data)
	}
	if v, err := strconv.ParseFloat(f.Predicted[1], 64); err != nil || !near(v, 11.5) {
		t.Errorf("predicted %v", f.Predicted)
	}
	if want := math.Sqrt((0.25 + 6.25) / 2); !near(m["rmse"], want) || !near(m["r2"], 1-6.5/6.125) {
		t.Errorf("metrics %v, want rmse %v", m, want)
	}
	if f.Discrete() {
		t.Error("numbers are compared as names")
	}
}

// A Gaussian process by hand: targets 7, 13 are -1, 1 in units of 3; with
// noise 2 on rows -1, 1 the mean at x is x/2 and the variance x^2 - x^2/2 + 2.
func TestGPByHand(t *testing.T) {
	f, m := mustFit(t, line(2, []string{"7", "13", "11.5", "40"}, -1, 1, 2, 2), method(t, GP{Noise: 2}))
	if !near(f.Decisions.Row(0)[0], 13) || !near(f.Decisions.Row(0)[1], 6) {
		t.Errorf("mean and deviation %v, want 13 and 6", f.Decisions.Row(0))
	}
	// The covariance is [[3, -1], [-1, 3]], with determinant 8 and y'K^-1 y = 1/2.
	likelihood := -(0.5 + math.Log(8) + 2*math.Log(2*math.Pi)) / 2
	want := Metrics{"mean_deviation": 6, "coverage_95": 0.5, "log_marginal_likelihood": likelihood}
	for name, v := range want {
		if !near(m[name], v) {
			t.Errorf("%s %v, want %v", name, m[name], v)
		}
	}
}

func TestSVR(t *testing.T) {
	f, m := mustFit(t, line(3, []string{"1", "2", "3", "4"}, 1, 2, 3, 4), method(t, SVR{SVRParams: svm.SVRParams{C: 100, Epsilon: 0.01, Tol: 1e-9}}))
	if m["rmse"] > 0.05 || f.Head.Kind != model.SVR {
		t.Errorf("metrics %v of a %s", m, f.Head.Kind)
	}
	if _, has := m["r2"]; has {
		t.Error("r2 of one row")
	}
}

// Targets within epsilon of one number need no row at all.
func TestSVRWithoutSupport(t *testing.T) {
	f, _ := mustFit(t, line(2, []string{"5", "5.1", "5"}, 1, 2, 3), method(t, SVR{SVRParams: svm.SVRParams{C: 1, Epsilon: 1}}))
	if len(f.Support) != 0 || math.Abs(f.Decisions.Data[0]-5.05) > 1.01 {
		t.Fatalf("support %v, prediction %v", f.Support, f.Decisions.Data)
	}
	m, err := model.New(kernel.Spec{Name: "linear"}, nil, linalg.New[float64](0, 1), f.Head)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := m.Decisions(linalg.New[float64](1, 1)); err != nil || d.Data[0] != f.Decisions.Data[0] {
		t.Errorf("the model without rows says %v, %v", d.Data, err)
	}
}

func TestNuSVCAndProbability(t *testing.T) {
	task := tumours(t)
	plain, _ := mustFit(t, task, method(t, NuSVC{NuParams: svm.NuParams{Nu: 0.2}}))
	sure, m := mustFit(t, task, method(t, NuSVC{NuParams: svm.NuParams{Nu: 0.2}, Probability: true, Seed: 1}))
	if plain.Head.Sigmoids != nil || sure.Decisions.Cols != 3 || m["auc"] < 0.97 {
		t.Fatalf("%d columns, auc %v", sure.Decisions.Cols, m["auc"])
	}
	if d := cmp.Diff(plain.Predicted, sure.Predicted); d != "" {
		t.Errorf("probabilities change predictions: %s", d)
	}
	for i := range sure.Decisions.Rows {
		if row := sure.Decisions.Row(i); !near(row[1]+row[2], 1) || row[0] != plain.Decisions.Row(i)[0] {
			t.Errorf("row %d: %v", i, row)
		}
	}
	c, _ := mustFit(t, task, method(t, SVC{Params: svm.Params{C: 1}, Probability: true, Seed: 1}))
	if c.Decisions.Cols != 3 || len(c.Head.Sigmoids) != 1 {
		t.Errorf("svc with probability has %d columns", c.Decisions.Cols)
	}
}

// tumours is 120 rows of wdbc, standardised; every third is held out.
func tumours(t *testing.T) Problem {
	t.Helper()
	set, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	x := dataset.DenseOf(set.X).Matrix().Panel(0, 120)
	rows := linalg.New[float64](120, x.Cols)
	for c := range x.Cols {
		y := x.Column(c)
		mean, deviation := standardise(y)
		for i, v := range y {
			rows.Row(i)[c] = (v - mean) / deviation
		}
	}
	task := Problem{Gram: kernel.LinearGram(rows), Labels: set.Labels[:120], Test: make([]bool, 120)}
	for i := range task.Test {
		task.Test[i] = i%3 == 2
	}
	return task
}

func TestOneClass(t *testing.T) {
	l := Spec{Kernel: rbf(t), Solver: OneClass{NuParams: svm.NuParams{Nu: 0.2}}}
	task := line(20, nil, 1, 1.1, 0.9, 1.2, 0.8, 1, 1.1, 0.9, 1.2, 0.8, 1, 1.1, 0.9, 1.2, 0.8, 1, 1.1, 0.9, 1.2, 0.8, 1, 50, -50, 1.05)
	f, m := mustFit(t, task, l)
	if d := cmp.Diff([]string{"1", "-1", "-1", "1"}, f.Predicted); d != "" || m["inside"] != 0.5 || len(m) != 1 {
		t.Errorf("metrics %v; %s", m, d)
	}
	task.Labels = slices.Repeat([]string{"1"}, 24)
	task.Labels[21], task.Labels[22], task.Labels[23] = "-1", "-1", "-1"
	if _, m := mustFit(t, task, l); m["accuracy"] != 0.75 || m["auc"] < 0.6 || m["inside"] != 0.5 {
		t.Errorf("metrics %v, want accuracy 3/4", m)
	}
	task.Labels[0] = "2" // of a training row: no matter
	task.Labels[20] = "2"
	if _, m := mustFit(t, task, l); len(m) != 1 {
		t.Errorf("metrics %v of labels that are not 1 and -1", m)
	}
}

func rbf(t *testing.T) kernel.Kernel {
	t.Helper()
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Points on a line have one component: it explains everything, and the score
// is the distance from the mean.
func TestKPCAByHand(t *testing.T) {
	f, m := mustFit(t, line(3, nil, 1, 2, 6, 10), method(t, KPCA{Components: 1}))
	if d := cmp.Diff([]float64{14}, f.Eigenvalues, cmp.Comparer(near)); d != "" {
		t.Error(d)
	}
	if !near(f.Decisions.Data[0], 7) || f.Predicted != nil || f.Discrete() {
		t.Errorf("score %v, predicted %v; want 7 and nothing", f.Decisions.Data, f.Predicted)
	}
	if !near(m["explained_variance"], 1) || !near(m["explained_variance_training"], 1) {
		t.Errorf("metrics %v, want 1", m)
	}
	if _, err := Fit(t.Context(), line(3, nil, 1, 2, 6, 10), method(t, KPCA{Components: 2}), nil); err == nil || !strings.Contains(err.Error(), "components is 2") {
		t.Errorf("two components of points on a line: %v", err)
	}
}

// Of two clusters the farther ones divide rows as the nearer ones do, so there are three.
func TestKMeansByHand(t *testing.T) {
	three := KMeans{kmeans.Params{Clusters: 3, Seed: 1}}
	task := line(6, strings.Split("aabbccaabbc", ""), -11, -9, -1, 1, 9, 11, -12, -8, .5, -.5, 10)
	_, m := mustFit(t, task, method(t, three))
	for name, want := range map[string]float64{"inertia": 8.5, "inertia_training": 6, "adjusted_rand": 1} {
		if !near(m[name], want) {
			t.Errorf("%s %v, want %v", name, m[name], want)
		}
	}
	task.Labels = nil
	if _, m := mustFit(t, task, method(t, three)); len(m) != 2 {
		t.Errorf("metrics %v without labels", m)
	}
}

// A model made from a fitted head gives the head's decisions again, from rows.
func TestHeadsAreTheWholeModel(t *testing.T) {
	set, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	rows := linalg.New[float64](90, 30)
	for i := range rows.Rows {
		set.X.Row(i, rows.Row(i))
		for j, v := range rows.Row(i) {
			rows.Row(i)[j] = v / 1000
		}
	}
	task := Problem{Gram: kernel.LinearGram(rows), Labels: set.Labels[:90], Test: make([]bool, 90)}
	for i := 60; i < 90; i++ {
		task.Test[i] = true
	}
	for name, m := range methods() {
		for _, spec := range []kernel.Spec{
			{Name: "rbf", Gamma: 0.5}, {Name: "rbf", Gamma: 0.5, Amplitude: 2.5}, {Name: "rational-quadratic", LengthScale: 0.8, Alpha: 2, Amplitude: 0.4},
			{Name: "linear"}, {Name: "polynomial", Gamma: 0.5, Coef0: 1, Degree: 3},
		} {
			t.Run(fmt.Sprint(name, " ", spec.Name, spec.Amplitude), func(t *testing.T) { checkHead(t, task, spec, m, rows) })
		}
	}
}

// checkHead checks that a model of a fitted head and its rows decides as the fit did about the last
// rows.
func checkHead(t *testing.T, task Problem, spec kernel.Spec, m Solver, rows linalg.Matrix[float64]) {
	t.Helper()
	k, err := kernel.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Fit(t.Context(), task, Spec{Kernel: k, Solver: m}, nil)
	if err != nil {
		t.Fatal(err)
	}
	vectors := linalg.New[float64](len(f.Support), 30)
	for i, r := range f.Support {
		copy(vectors.Row(i), rows.Row(r))
	}
	again, err := model.New(spec, nil, vectors, f.Head)
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := again.Decisions(rows.Panel(60, 90))
	if err != nil {
		t.Fatal(err)
	}
	if d, err := Difference(decisions, f.Decisions); err != nil || d > 1e-8 {
		t.Errorf("decisions differ by %v, %v", d, err)
	}
}

func methods() map[string]Solver {
	nu := svm.NuParams{Nu: 0.2}
	return map[string]Solver{
		"svc": SVC{Params: svm.Params{C: 1}, Probability: true}, "nu-svc": NuSVC{NuParams: nu, Probability: true},
		"svr": SVR{SVRParams: svm.SVRParams{C: 1, Epsilon: 0.1}}, "ridge": Ridge{1}, "gp": GP{0.1},
		"one-class": OneClass{NuParams: nu}, "kpca": KPCA{3}, "kmeans": KMeans{kmeans.Params{Clusters: 3}},
	}
}

// Labels that are not numbers are refused without being quoted: the coordinator sends the reason to
// every party.
func TestRegressionOfWords(t *testing.T) {
	for _, m := range []Solver{SVR{SVRParams: svm.SVRParams{C: 1}}, Ridge{1}, GP{1}} {
		_, err := Fit(t.Context(), line(2, []string{"1", "secret", "3"}, 1, 2, 3), method(t, m), nil)
		if !errors.Is(err, ErrNumbers) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%T: %v", m, err)
		}
		if _, err := Fit(t.Context(), line(2, nil, 1, 2, 3), method(t, m), nil); err == nil {
			t.Errorf("%T learns without labels", m)
		}
	}
}

func TestParametersThatDoNotFitTheRows(t *testing.T) {
	task := line(3, []string{"1", "2", "2", "4"}, 1, 2, 3, 4)
	for want, m := range map[string]Solver{
		"learner: kmeans: clusters is 4 for 3 rows":                   KMeans{kmeans.Params{Clusters: 4}},
		"learner: kpca: components is 4 for 3 rows":                   KPCA{4},
		"in the smaller class, nu can be at most 0.6666666666666666":  NuSVC{NuParams: svm.NuParams{Nu: 0.9}},
		"components with a positive eigenvalue, but components is 2":  KPCA{2},
		"the kernel matrix plus 0 on its diagonal cannot be factored": Ridge{0},
	} {
		if _, err := Fit(t.Context(), task, method(t, m), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// Every method ends with the context, and says so.
func TestFitEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	task := blobs(640, true) // a kernel PCA of fewer than 500 in training is one step
	for i := range task.Labels {
		task.Labels[i] = strconv.Itoa(i % 2)
	}
	for name, m := range methods() {
		f, err := Fit(ctx, task, Spec{Kernel: rbf(t), Solver: m}, nil)
		if f != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
