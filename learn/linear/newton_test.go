package linear

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/linalg"
)

// small is a table of features with signs as targets of some outputs.
func small(features, rows, outputs int, seed uint64) (Dense[float64], linalg.Matrix[float64]) {
	y := noise(outputs, rows, seed+1)
	for i, v := range y.Data {
		y.Data[i] = Sign(v)
	}
	return Dense[float64]{noise(features, rows, seed)}, y
}

// gradient returns the gradient of the objective, term by term.
func gradient(z Dense[float64], w, y []float64, loss Loss, lambda float64) []float64 {
	g := make([]float64, len(w))
	for i := range y {
		u := 0.0
		for j, v := range w {
			u += v * z.M.Row(j)[i]
		}
		for j := range g {
			g[j] += loss.Slope(u, y[i]) * z.M.Row(j)[i] / float64(len(y))
		}
	}
	for j, v := range w {
		g[j] += lambda * v
	}
	return g
}

// The minimum is where the gradient ends, whatever the loss and the blocks; no
// pass makes the objective larger.
func TestFitFindsTheMinimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, features := rapid.IntRange(1, 60).Draw(t, "rows"), rapid.IntRange(1, 12).Draw(t, "features")
		outputs := rapid.IntRange(1, 3).Draw(t, "outputs")
		z, y := small(features, rows, outputs, 7)
		lambda := rapid.SampledFrom([]float64{0.1, 1}).Draw(t, "lambda")
		name := rapid.SampledFrom([]string{"square", "logistic", "smoothhinge", "huber", "wide huber"}).Draw(t, "loss")
		loss := named()[name]
		f, err := Fit(z, y, Params{Loss: loss, Lambda: lambda, Block: 2 * rapid.IntRange(1, 7).Draw(t, "half a block"), Tol: 1e-12, MaxPasses: 5000})
		if err != nil {
			t.Fatal(err)
		}
		for k := range outputs {
			for j, g := range gradient(z, f.Coefficients.Row(k), y.Row(k), loss, lambda) {
				if math.Abs(g) > 1e-10 {
					t.Errorf("output %d: entry %d of the gradient is %v", k, j, g)
				}
			}
		}
		for k := 1; k < len(f.Objectives); k++ {
			if f.Objectives[k] > f.Objectives[k-1]+1e-12 {
				t.Errorf("the objective rises in pass %d: %v", k, f.Objectives)
			}
		}
		for i, u := range Decide(z, f.Coefficients).Data {
			if math.Abs(u-f.Decisions.Data[i]) > 1e-10 {
				t.Errorf("decision %d is %v in training, %v after", i, f.Decisions.Data[i], u)
			}
		}
	})
}

// Plain Newton, with the second derivative itself, ends at the same
// coefficients.
func TestFitEqualsNewton(t *testing.T) {
	const rows, features, lambda = 200, 20, 0.01
	z, y := small(features, rows, 1, 3)
	f, err := Fit(z, y, Params{Loss: Logistic{}, Lambda: lambda, Block: 6, Tol: 1e-12, MaxPasses: 10000})
	if err != nil {
		t.Fatal(err)
	}
	w := make([]float64, features)
	for range 30 {
		h := linalg.New[float64](features, features)
		for i := range rows {
			u := 0.0
			for j, v := range w {
				u += v * z.M.Row(j)[i]
			}
			p := Sigmoid(u)
			for a := range features {
				for b := range features {
					h.Row(a)[b] += p * (1 - p) / rows * z.M.Row(a)[i] * z.M.Row(b)[i]
				}
			}
		}
		for a := range features {
			h.Row(a)[a] += lambda
		}
		for j, s := range eliminate(h, gradient(z, w, y.Data, Logistic{}, lambda)) {
			w[j] -= s
		}
	}
	for j, want := range w {
		if got := f.Coefficients.Data[j]; math.Abs(got-want) > 1e-8 {
			t.Errorf("coefficient %d is %v, want %v", j, got, want)
		}
	}
}

// Ridge regression in one block is done after one pass, at the minimum with its lambda, be it small or
// large.
func TestSquareInOneBlock(t *testing.T) {
	z, y := small(10, 50, 2, 5)
	for _, lambda := range []float64{1e-8, 1e-6, 1e-3, 0.1, 1, 100} {
		f, err := Fit(z, y, Params{Loss: Square{}, Lambda: lambda, Tol: 1e-10})
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Objectives) > 2 {
			t.Errorf("lambda %v: %d passes", lambda, len(f.Objectives))
		}
		for k := range y.Rows {
			for j, g := range gradient(z, f.Coefficients.Row(k), y.Row(k), Square{}, lambda) {
				if math.Abs(g) > 1e-3*min(1e-6, lambda) {
					t.Errorf("lambda %v, output %d: entry %d of the gradient is %v", lambda, k, j, g)
				}
			}
		}
	}
}

// Many rows and features: panels, blocks and tables in float32 come to what the
// dense one in float64 does.
func TestPhasesInPanels(t *testing.T) {
	p := problem{noise(3*panelRows+17, 5, 1), nil}
	for i := range p.x.Rows {
		p.y = append(p.y, Sign(p.x.Row(i)[0]*p.x.Row(i)[1]))
	}
	d := gaussian(5, 2, 1)
	double, single := phases[float64](p, d, 40, 32), phases[float32](p, d, 40, 32)
	dense := Dense[float64]{linalg.New[float64](80, p.x.Rows)}
	double.Read(dense.M, 0, 0)
	params := Params{Loss: Logistic{}, Lambda: 1e-2, Block: 30, Tol: 1e-6, MaxPasses: 500}
	want, err := Fit(dense, row(p.y), params)
	if err != nil {
		t.Fatal(err)
	}
	same, err := Fit(double, row(p.y), params)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(want.Coefficients.Data, same.Coefficients.Data) {
		t.Error("other coefficients by phases than by the features of them")
	}
	params.Tol = 1e-4
	near, err := Fit(single, row(p.y), params)
	if err != nil {
		t.Fatal(err)
	}
	u, v := Decide(double, want.Coefficients).Data, Decide(single, near.Coefficients).Data
	for i := range u {
		if math.Abs(u[i]-v[i]) > 1e-3 {
			t.Fatalf("decision %d is %v in float32, %v in float64", i, v[i], u[i])
		}
	}
}

func TestFitErrors(t *testing.T) {
	z, y := small(4, 30, 1, 9)
	good := Params{Loss: Logistic{}, Lambda: 1}
	for name, f := range map[string]func() (*Fitted, error){
		"no loss":  func() (*Fitted, error) { return Fit(z, y, Params{Lambda: 1}) },
		"lambda":   func() (*Fitted, error) { return Fit(z, y, Params{Loss: Square{}}) },
		"infinite": func() (*Fitted, error) { return Fit(z, y, Params{Loss: Square{}, Lambda: math.Inf(1)}) },
		"delta":    func() (*Fitted, error) { return Fit(z, y, Params{Loss: Huber{}, Lambda: 1}) },
		"block":    func() (*Fitted, error) { return Fit(z, y, Params{Loss: Square{}, Lambda: 1, Block: 3}) },
		"tol":      func() (*Fitted, error) { return Fit(z, y, Params{Loss: Square{}, Lambda: 1, Tol: math.NaN()}) },
		"targets":  func() (*Fitted, error) { return Fit(z, row(y.Data[1:]), good) },
		"no rows":  func() (*Fitted, error) { return Fit(Dense[float64]{linalg.New[float64](4, 0)}, row(nil), good) },
		"infinite target": func() (*Fitted, error) {
			return Fit(z, row(append(slices.Clone(y.Data[1:]), math.Inf(1))), good)
		},
		"no numbers": func() (*Fitted, error) {
			bad := noise(4, 30, 1)
			bad.Data[7] = math.NaN()
			return Fit(Dense[float64]{bad}, y, good)
		},
	} {
		if _, err := f(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	f, err := Fit(z, y, Params{Loss: Logistic{}, Lambda: 1e-6, Block: 2, Tol: 1e-14, MaxPasses: 2})
	if !errors.Is(err, ErrNotConverged) || f == nil || len(f.Objectives) != 2 || !(f.Gradient > 0) {
		t.Errorf("two passes: %v, %+v", err, f)
	}
}

// Nothing to learn from: all features are 0.
func TestFitOfNothing(t *testing.T) {
	_, y := small(4, 30, 1, 9)
	f, err := Fit(Dense[float64]{linalg.New[float64](4, 30)}, y, Params{Loss: Logistic{}, Lambda: 1})
	if err != nil || slices.Max(f.Coefficients.Data) != 0 || f.Gradient != 0 {
		t.Errorf("%+v, %v", f, err)
	}
}
