package svm_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

// The values in testdata/golden.json are scikit-learn 1.2.1's (LIBSVM 3.25) at
// tol 1e-6: every fourth row is test; WDBC is scaled to [0, 1] by the minima
// and maxima of all rows, digits are divided by 16.
type golden struct {
	Params     parameters `json:"params"`
	parameters            // of those that have no params

	NSV            int       `json:"n_sv"`
	Intercept      float64   `json:"intercept"`
	DualAbsSum     float64   `json:"dual_abs_sum"`
	FirstDecisions []float64 `json:"first_decisions"`
	Accuracy       float64   `json:"accuracy"`
	F1Micro        float64   `json:"f1_micro"`
	F1Macro        float64   `json:"f1_macro"`
	AUC            float64   `json:"auc"`
	NSupport       []int     `json:"n_support"`
	Predictions    []int     `json:"predictions"`

	FirstPredictions []float64 `json:"first_predictions"`
	RMSE             float64   `json:"rmse"`
	AUCOvO           float64   `json:"auc_ovo_macro"`
}

// parameters are scikit-learn's.
type parameters struct {
	Kernel      string             `json:"kernel"` // "" where it is rbf throughout
	Gamma       float64            `json:"gamma"`
	Coef0       float64            `json:"coef0"`
	Degree      int                `json:"degree"`
	C           float64            `json:"C"`
	Epsilon     float64            `json:"epsilon"`
	ClassWeight map[string]float64 `json:"class_weight"`
}

// spec is the kernel.
func (p parameters) spec() kernel.Spec {
	name, known := map[string]string{"": "rbf", "rbf": "rbf", "linear": "linear", "poly": "polynomial"}[p.Kernel]
	if !known {
		panic("golden values of kernel " + p.Kernel)
	}
	return kernel.Spec{Name: name, Gamma: p.Gamma, Coef0: p.Coef0, Degree: p.Degree}
}

// wdbc are the parameters for the classes of loadWDBC, which are "0" and "1" in
// the place of -1 and 1.
func (p parameters) wdbc() svm.Params {
	out := svm.Params{C: p.C, Tol: 1e-6}
	if p.ClassWeight != nil {
		out.Weights = map[string]float64{"0": p.ClassWeight["-1"], "1": p.ClassWeight["1"]}
	}
	return out
}

func readGolden(t *testing.T) map[string]golden {
	t.Helper()
	b, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g map[string]golden
	if err := json.Unmarshal(b, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// split is a data set as the golden values use it.
type split struct {
	train, test           linalg.Matrix[float64]
	trainCodes, testCodes []int
	classes               []string
}

func load(t testing.TB, name string) split {
	t.Helper()
	set, err := bundled.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	x := dataset.DenseOf(set.X).Matrix()
	classes, codes := dataset.Classes(set.Labels)
	s := split{classes: classes, train: linalg.Matrix[float64]{Cols: x.Cols, Stride: x.Cols}}
	s.test = s.train
	for i, code := range codes {
		if i%4 == 3 {
			s.test.Data, s.testCodes, s.test.Rows = append(s.test.Data, x.Row(i)...), append(s.testCodes, code), s.test.Rows+1
		} else {
			s.train.Data, s.trainCodes, s.train.Rows = append(s.train.Data, x.Row(i)...), append(s.trainCodes, code), s.train.Rows+1
		}
	}
	return s
}

// loadWDBC scales. Class 0 is malignant (-1 in the golden values), 1 benign.
func loadWDBC(t testing.TB) split {
	t.Helper()
	s := load(t, "wdbc")
	for c := range s.train.Cols {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, m := range []linalg.Matrix[float64]{s.train, s.test} {
			for r := range m.Rows {
				lo, hi = min(lo, m.Row(r)[c]), max(hi, m.Row(r)[c])
			}
		}
		for _, m := range []linalg.Matrix[float64]{s.train, s.test} {
			for r := range m.Rows {
				m.Row(r)[c] = (m.Row(r)[c] - lo) / (hi - lo)
			}
		}
	}
	return s
}

func loadDigits(t testing.TB) split {
	t.Helper()
	s := load(t, "digits")
	for _, m := range []linalg.Matrix[float64]{s.train, s.test} {
		for i := range m.Data {
			m.Data[i] /= 16
		}
	}
	return s
}

// fit trains on s and returns the decisions on its test rows.
func fit(t testing.TB, s split, spec kernel.Spec, p svm.Params) (*svm.Classifier, linalg.Matrix[float64]) {
	t.Helper()
	k, err := kernel.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	c := svm.MustSVC(t, kernel.Of(kernel.LinearGram(s.train), k), s.trainCodes, s.classes, p)
	sv := linalg.New[float64](len(c.Support()), s.train.Cols)
	for i, r := range c.Support() {
		copy(sv.Row(i), s.train.Row(r))
	}
	cross := kernel.CrossGram(s.test, sv)
	kernel.Cross(k, cross, kernel.SquaredNorms(s.test), kernel.SquaredNorms(sv))
	return c, c.Decisions(cross)
}

func TestGoldenBinary(t *testing.T) {
	s, all := loadWDBC(t), readGolden(t)
	for _, name := range []string{"svc_rbf", "svc_linear", "svc_poly", "svc_rbf_weighted"} {
		t.Run(name, func(t *testing.T) {
			want := all[name]
			if len(want.FirstDecisions) != 10 || (want.Params.ClassWeight != nil) != (name == "svc_rbf_weighted") {
				t.Fatalf("%+v", want)
			}
			c, decisions := fit(t, s, want.Params.spec(), want.Params.wdbc())
			compareBinary(t, want, s, c, decisions)
		})
	}
}

// compareBinary turns our signs into scikit-learn's: with two classes its
// decision is -f and its intercept +rho.
func compareBinary(t *testing.T, want golden, s split, c *svm.Classifier, decisions linalg.Matrix[float64]) {
	t.Helper()
	p := c.Pairs[0]
	if got := p.Rho; math.Abs(got-want.Intercept) > 1e-4 {
		t.Errorf("intercept %v, want %v", got, want.Intercept)
	}
	if len(p.Coef) != want.NSV || len(c.Support()) != want.NSV || p.Report.Support != want.NSV {
		t.Errorf("%d support vectors, want %d", len(p.Coef), want.NSV)
	}
	sum := 0.0
	for _, b := range p.Coef {
		sum += math.Abs(b)
	}
	if math.Abs(sum-want.DualAbsSum) > 1e-4*want.DualAbsSum {
		t.Errorf("sum of |coef| %v, want %v", sum, want.DualAbsSum)
	}
	for i, d := range want.FirstDecisions {
		if got := -decisions.Row(i)[0]; math.Abs(got-d) > 1e-4 {
			t.Errorf("decision %d is %v, want %v", i, got, d)
		}
	}
	if got := accuracy(s.testCodes, c.Predict(decisions)); got != want.Accuracy {
		t.Errorf("accuracy %v, want %v", got, want.Accuracy)
	}
	if got := auc(s.testCodes, decisions); math.Abs(got-want.AUC) > 1e-12 {
		t.Errorf("AUC %v, want %v", got, want.AUC)
	}
}

func accuracy(want, got []int) float64 {
	hits := 0
	for i := range want {
		if want[i] == got[i] {
			hits++
		}
	}
	return float64(hits) / float64(len(want))
}

// auc counts pairs of one row of each class in the right order.
func auc(codes []int, decisions linalg.Matrix[float64]) float64 {
	right, all := 0.0, 0.0
	for i, a := range codes {
		for j, b := range codes {
			if a != 0 || b != 1 {
				continue
			}
			all++
			switch fi, fj := decisions.Row(i)[0], decisions.Row(j)[0]; {
			case fi > fj:
				right++
			case fi == fj:
				right += 0.5
			}
		}
	}
	return right / all
}

func TestGoldenDigits(t *testing.T) {
	want := readGolden(t)["digits_svc_ovo"]
	s := loadDigits(t)
	c, decisions := fit(t, s, want.spec(), svm.Params{C: want.C, Tol: 1e-6})
	counts := make([]int, len(s.classes))
	for _, r := range c.Support() {
		counts[s.trainCodes[r]]++
	}
	if d := cmp.Diff(want.NSupport, counts); d != "" {
		t.Errorf("support vectors by class (-want +got):\n%s", d)
	}
	codes := c.Predict(decisions)
	got := make([]int, len(codes))
	for i, code := range codes {
		var err error
		if got[i], err = strconv.Atoi(c.Classes[code]); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(want.Predictions, got); d != "" {
		t.Errorf("predictions (-want +got):\n%s", d)
	}
	if a := accuracy(s.testCodes, codes); a != want.Accuracy {
		t.Errorf("accuracy %v, want %v", a, want.Accuracy)
	}
	for name, m := range map[string]struct {
		f    func(truth, predicted []int) (float64, error)
		want float64
	}{"micro": {metrics.F1Micro[int], want.F1Micro}, "macro": {metrics.F1Macro[int], want.F1Macro}} {
		if got, err := m.f(s.testCodes, codes); err != nil || math.Abs(got-m.want) > 1e-14 {
			t.Errorf("F1 %s %v, %v; want %v", name, got, err, m.want)
		}
	}
}

// TestGoldenProbabilities: LIBSVM's folds are random, so that its AUC is met to
// 0.002 only.
func TestGoldenProbabilities(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	want := readGolden(t)["digits_svc_proba"].AUCOvO // of the machine of digits_svc_ovo
	s := loadDigits(t)
	p := svm.Params{C: 10, Tol: 1e-6}
	c, decisions := fit(t, s, kernel.Spec{Name: "rbf", Gamma: 0.5}, p)
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		calibration, err := svm.Calibrate(kernel.Of(kernel.LinearGram(s.train), k), s.trainCodes, s.classes, p, seed)
		if err != nil {
			t.Fatal(err)
		}
		probabilities := calibration.Probabilities(decisions)
		got, err := metrics.AUCOvO(s.testCodes, probabilities)
		if err != nil || math.Abs(got-want) > 0.002 {
			t.Errorf("seed %d: AUC %v, %v; want %v", seed, got, err, want)
		}
		t.Logf("seed %d: AUC %v", seed, got)
		agree := 0
		for i, code := range c.Predict(decisions) {
			row := probabilities.Row(i)
			if row[code] == slices.Max(row) {
				agree++
			}
		}
		if agree < len(s.testCodes)*99/100 {
			t.Errorf("seed %d: vote and probabilities agree on %d of %d rows", seed, agree, len(s.testCodes))
		}
	}
}

// TestTightTolerance: 1e-8 is met on every pair of digits, and tightening tol
// moves no decision by more than a few tolerances.
func TestTightTolerance(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s := loadDigits(t)
	for _, spec := range []kernel.Spec{{Name: "rbf", Gamma: 0.5}, {Name: "linear"}, {Name: "polynomial", Gamma: 1, Coef0: 1, Degree: 3}} {
		t.Run(spec.Name, func(t *testing.T) {
			loose, a := fit(t, s, spec, svm.Params{C: 10, Tol: 1e-6})
			tight, b := fit(t, s, spec, svm.Params{C: 10, Tol: 1e-8})
			iterations := 0
			for k, p := range tight.Pairs {
				iterations += p.Report.Iterations
				if p.Report.Gap > 1e-8 || loose.Pairs[k].Report.Gap > 1e-6 {
					t.Errorf("pair %d: gap %v", k, p.Report.Gap)
				}
			}
			far := 0.0
			for i := range a.Data {
				far = max(far, math.Abs(a.Data[i]-b.Data[i]))
			}
			t.Logf("%d iterations at tol 1e-8, decisions differ by at most %.2g from tol 1e-6", iterations, far)
			if far > 2e-5 {
				t.Errorf("a decision moved by %v", far)
			}
			if d := cmp.Diff(loose.Predict(a), tight.Predict(b)); d != "" {
				t.Errorf("predictions differ:\n%s", d)
			}
		})
	}
}
