package ridge_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
)

// The values in testdata/golden.json are scikit-learn 1.2.1's on the diabetes
// data: columns standardised over all rows, every fourth row is test; the
// Gaussian processes see targets standardised by the training rows. Values with an
// amplitude other than 1 are scikit-learn 1.9.1's.
type golden struct {
	Gamma       float64
	Alpha       float64 // of ridge; of the rational quadratic kernel
	Amplitude2  float64 // 0 where it is 1
	LengthScale float64 `json:"length_scale"`
	Noise       float64

	FirstPredictions []float64 `json:"first_predictions"`
	RMSE             float64
	Likelihood       float64   `json:"log_marginal_likelihood"`
	FirstMean        []float64 `json:"first_mean"`
	FirstStd         []float64 `json:"first_std"`
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

// numbers reads all numbers of a file of the project's real data, or skips the
// test.
func numbers(t *testing.T, file string) []float64 {
	t.Helper()
	dir := os.Getenv("MERCER_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, "diabetes", file))
	if err != nil {
		if os.Getenv("MERCER_REQUIRE_DATA") == "1" {
			t.Fatalf("MERCER_REQUIRE_DATA=1: %v", err)
		}
		t.Skipf("no real data (set MERCER_DATA): %v", err)
	}
	defer f.Close() //nolint:errcheck // read only
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []float64
	for {
		var v float64
		if _, err := fmt.Fscan(z, &v); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
}

// moments returns mean and standard deviation (of the population).
func moments(v []float64) (mean, deviation float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		deviation += (x - mean) * (x - mean) / float64(len(v))
	}
	return mean, math.Sqrt(deviation)
}

type diabetes struct {
	train, test             linalg.Matrix[float64]
	trainTarget, testTarget []float64
}

func load(t *testing.T) diabetes {
	t.Helper()
	x, y := numbers(t, "diabetes_data_raw.csv.gz"), numbers(t, "diabetes_target.csv.gz")
	const cols = 10
	if len(x) != cols*len(y) {
		t.Fatalf("%d numbers for %d targets", len(x), len(y))
	}
	for c := range cols {
		column := make([]float64, len(y))
		for r := range column {
			column[r] = x[r*cols+c]
		}
		mean, deviation := moments(column)
		for r := range column {
			x[r*cols+c] = (x[r*cols+c] - mean) / deviation
		}
	}
	d := diabetes{train: linalg.Matrix[float64]{Cols: cols, Stride: cols}}
	d.test = d.train
	for r, target := range y {
		m, targets := &d.train, &d.trainTarget
		if r%4 == 3 {
			m, targets = &d.test, &d.testTarget
		}
		m.Data, m.Rows = append(m.Data, x[r*cols:(r+1)*cols]...), m.Rows+1
		*targets = append(*targets, target)
	}
	return d
}

// kernels returns the kernel of the training rows, and of the test rows with
// them.
func (d diabetes) kernels(t *testing.T, spec kernel.Spec) (kernel.Source, linalg.Matrix[float64]) {
	t.Helper()
	k, err := kernel.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	cross := kernel.CrossGram(d.test, d.train)
	kernel.Cross(k, cross, kernel.SquaredNorms(d.test), kernel.SquaredNorms(d.train))
	return kernel.Of(kernel.LinearGram(d.train), k), cross
}

// standardised returns the training targets with mean 0 and deviation 1.
func (d diabetes) standardised() []float64 {
	mean, deviation := moments(d.trainTarget)
	y := make([]float64, len(d.trainTarget))
	for i, v := range d.trainTarget {
		y[i] = (v - mean) / deviation
	}
	return y
}

// near compares the first values, of which there are count.
func near(t *testing.T, what string, count int, got, want []float64, tol float64) {
	t.Helper()
	if len(want) != count {
		t.Errorf("%s: %d golden values, not %d", what, len(want), count)
	}
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tol) {
			t.Errorf("%s %d is %v, want %v", what, i, got[i], w)
		}
	}
}

func TestRidgeAsScikitLearn(t *testing.T) {
	want, d := readGolden(t)["ridge_rbf"], load(t)
	src, cross := d.kernels(t, kernel.Spec{Name: "rbf", Gamma: want.Gamma})
	m, err := ridge.Fit(src, d.trainTarget, want.Alpha)
	if err != nil {
		t.Fatal(err)
	}
	got := m.Predict(cross)
	near(t, "prediction", 10, got, want.FirstPredictions, 1e-9)
	rmse, err := metrics.RMSE(d.testTarget, got)
	if err != nil || math.Abs(rmse-want.RMSE) > 1e-10 {
		t.Errorf("RMSE %v, %v, want %v", rmse, err, want.RMSE)
	}
}

func TestGPAsScikitLearn(t *testing.T) {
	g, d := readGolden(t), load(t)
	y := d.standardised()
	for name, c := range map[string]struct {
		spec  kernel.Spec
		count int // of golden means and deviations
	}{
		"gp_rbf": {kernel.Spec{Name: "rbf", Gamma: 1 / (2 * g["gp_rbf"].LengthScale * g["gp_rbf"].LengthScale)}, 10},
		"gp_rq":  {kernel.Spec{Name: "rational-quadratic", LengthScale: g["gp_rq"].LengthScale, Alpha: g["gp_rq"].Alpha}, 0},
	} {
		src, cross := d.kernels(t, c.spec)
		gp, err := ridge.FitGP(src, y, ridge.GPParams{Amplitude: g[name].Amplitude2, Noise: g[name].Noise})
		if err != nil {
			t.Fatal(err)
		}
		asScikitLearn(t, name, g[name], c.count, gp, cross, 1)
	}
}

// asScikitLearn compares a process, and the first of its means and deviations of the test rows, each
// of which has that kernel value with itself.
func asScikitLearn(t *testing.T, name string, want golden, count int, gp *ridge.GP, cross linalg.Matrix[float64], own float64) {
	t.Helper()
	prior := slices.Repeat([]float64{own}, cross.Rows)
	// scikit-learn adds 1e-10 to the diagonal.
	near(t, name+": likelihood", 1, []float64{gp.LogMarginalLikelihood}, []float64{want.Likelihood}, 1e-7)
	near(t, name+": mean", count, gp.Predict(cross), want.FirstMean, 1e-8)
	near(t, name+": deviation", count, gp.Deviations(cross, prior), want.FirstStd, 1e-8)
}

// The kernel with an amplitude is scikit-learn's ConstantKernel times the kernel, whether the kernel
// or the process has the amplitude.
func TestAmplitudeAsScikitLearn(t *testing.T) {
	g, d := readGolden(t), load(t)
	y := d.standardised()
	for name, spec := range map[string]kernel.Spec{
		"gp_rbf_amplitude": {Name: "rbf", Gamma: 1 / (2 * g["gp_rbf_amplitude"].LengthScale * g["gp_rbf_amplitude"].LengthScale)},
		"gp_rq_amplitude":  {Name: "rational-quadratic", LengthScale: g["gp_rq_amplitude"].LengthScale, Alpha: g["gp_rq_amplitude"].Alpha},
	} {
		want := g[name]
		src, cross := d.kernels(t, spec)
		gp, err := ridge.FitGP(src, y, ridge.GPParams{Amplitude: want.Amplitude2, Noise: want.Noise})
		if err != nil {
			t.Fatal(err)
		}
		asScikitLearn(t, name+" of the process", want, 10, gp, cross, 1)
		spec.Amplitude = want.Amplitude2
		src, cross = d.kernels(t, spec)
		if gp, err = ridge.FitGP(src, y, ridge.GPParams{Noise: want.Noise}); err != nil {
			t.Fatal(err)
		}
		asScikitLearn(t, name+" of the kernel", want, 10, gp, cross, want.Amplitude2)
	}
}
