package ridge_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
)

func noise(rows, cols int, seed uint64) linalg.Matrix[float64] {
	rng := rand.New(rand.NewPCG(seed, 3))
	m := linalg.New[float64](rows, cols)
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

// TestLinearKernelIsPrimalRidge: with a linear kernel the dual is the primal,
// w = (X'X + alpha I)^-1 X'y, another system of another size.
func TestLinearKernelIsPrimalRidge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, f := rapid.IntRange(1, 90).Draw(t, "n"), rapid.IntRange(1, 12).Draw(t, "f")
		seed := rapid.Uint64().Draw(t, "seed")
		alpha := math.Exp(rapid.Float64Range(-4, 4).Draw(t, "log alpha"))
		x, z, y := noise(n, f, seed), noise(5, f, seed+1), noise(1, n, seed+2).Data
		m, err := ridge.Fit(kernel.Dense{K: kernel.LinearGram(x)}, y, alpha)
		if err != nil {
			t.Fatal(err)
		}
		got := m.Predict(kernel.CrossGram(z, x))
		want := primal(x, z, y, alpha)
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-9*(1+math.Abs(want[i])) {
				t.Fatalf("prediction %d is %v, the primal gives %v", i, got[i], want[i])
			}
		}
	})
}

func primal(x, z linalg.Matrix[float64], y []float64, alpha float64) []float64 {
	design := mat.NewDense(x.Rows, x.Cols, x.Data)
	var normal mat.Dense
	normal.Mul(design.T(), design)
	for i := range x.Cols {
		normal.Set(i, i, normal.At(i, i)+alpha)
	}
	var xy, w mat.VecDense
	xy.MulVec(design.T(), mat.NewVecDense(len(y), y))
	if err := w.SolveVec(&normal, &xy); err != nil {
		panic(err)
	}
	var out mat.VecDense
	out.MulVec(mat.NewDense(z.Rows, z.Cols, z.Data), &w)
	return out.RawVector().Data
}

// TestGPEqualsDefinition: mean, deviation and likelihood from the inverse and
// the determinant of the covariance.
func TestGPEqualsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(t, "n")
		p := ridge.GPParams{Amplitude: rapid.Float64Range(0.1, 5).Draw(t, "amplitude"), Noise: rapid.Float64Range(0.01, 2).Draw(t, "noise")}
		seed := rapid.Uint64().Draw(t, "seed")
		x, z, y := noise(n, 3, seed), noise(4, 3, seed+1), noise(1, n, seed+2).Data
		k, cross := rbf(x, x), rbf(z, x)
		gp, err := ridge.FitGP(kernel.Dense{K: k}, y, p)
		if err != nil {
			t.Fatal(err)
		}
		covariance := mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				covariance.Set(i, j, p.Amplitude*k.Row(i)[j])
			}
			covariance.Set(i, i, covariance.At(i, i)+p.Noise)
		}
		var inverse mat.Dense
		if err := inverse.Inverse(covariance); err != nil {
			t.Fatal(err)
		}
		target := mat.NewVecDense(n, y)
		logDet, _ := mat.LogDet(covariance)
		want := -(mat.Inner(target, &inverse, target) + logDet + float64(n)*math.Log(2*math.Pi)) / 2
		if math.Abs(gp.LogMarginalLikelihood-want) > 1e-8*(1+math.Abs(want)) {
			t.Fatalf("likelihood %v, want %v", gp.LogMarginalLikelihood, want)
		}
		mean, deviation := gp.Predict(cross), gp.Deviations(cross, []float64{1, 1, 1, 1})
		for i := range z.Rows {
			c := mat.NewVecDense(n, nil)
			for j, v := range cross.Row(i) {
				c.SetVec(j, p.Amplitude*v)
			}
			if want := mat.Inner(c, &inverse, target); math.Abs(mean[i]-want) > 1e-8*(1+math.Abs(want)) {
				t.Fatalf("mean %v, want %v", mean[i], want)
			}
			if want := math.Sqrt(p.Amplitude - mat.Inner(c, &inverse, c) + p.Noise); math.Abs(deviation[i]-want) > 1e-7 {
				t.Fatalf("deviation %v, want %v", deviation[i], want)
			}
		}
	})
}

func rbf(a, b linalg.Matrix[float64]) linalg.Matrix[float64] {
	k := linalg.New[float64](a.Rows, b.Rows)
	for i := range a.Rows {
		for j := range b.Rows {
			d := 0.0
			for c, v := range a.Row(i) {
				d += (v - b.Row(j)[c]) * (v - b.Row(j)[c])
			}
			k.Row(i)[j] = math.Exp(-d / 2)
		}
	}
	return k
}

// TestWithoutNoise: the process goes through its targets and knows it.
func TestWithoutNoise(t *testing.T) {
	x, y := noise(12, 2, 5), noise(1, 12, 6).Data
	k := rbf(x, x)
	gp, err := ridge.FitGP(kernel.Dense{K: k}, y, ridge.GPParams{})
	if err != nil {
		t.Fatal(err)
	}
	ones := make([]float64, 12)
	for i := range ones {
		ones[i] = 1
	}
	for i, d := range gp.Deviations(k, ones) {
		if got := gp.Predict(k)[i]; !(math.Abs(got-y[i]) <= 1e-9) || !(d <= 1e-5) {
			t.Errorf("row %d: %v with deviation %v, the target is %v", i, got, d, y[i])
		}
	}
}

// TestFitTargets: many targets at once have the coefficients of one at a time.
func TestFitTargets(t *testing.T) {
	x, y := noise(12, 2, 5), noise(3, 12, 6)
	k := kernel.Dense{K: rbf(x, x)}
	got := linalg.New[float64](3, 12)
	copy(got.Data, y.Data)
	if err := ridge.FitTargets(k, got, 0.5); err != nil {
		t.Fatal(err)
	}
	for c := range y.Rows {
		m, err := ridge.Fit(k, y.Row(c), 0.5)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range m.Dual {
			if math.Abs(got.Row(c)[i]-v) > 1e-12 {
				t.Errorf("target %d, row %d: %v, want %v", c, i, got.Row(c)[i], v)
			}
		}
	}
}

func TestErrors(t *testing.T) {
	nan := math.NaN()
	ones := linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 1, 1, 1}}
	broken := linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, nan, nan, 1}}
	fit := func(k linalg.Matrix[float64], y []float64, alpha float64) error {
		_, err := ridge.Fit(kernel.Dense{K: k}, y, alpha)
		return err
	}
	gpOf := func(k linalg.Matrix[float64], y []float64, p ridge.GPParams) error {
		_, err := ridge.FitGP(kernel.Dense{K: k}, y, p)
		return err
	}
	gp := func(p ridge.GPParams) error { return gpOf(ones, []float64{1, 2}, p) }
	identity := linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 0, 0, 1}}
	targets := func(y []float64, alpha float64) error {
		return ridge.FitTargets(kernel.Dense{K: ones}, linalg.Matrix[float64]{Rows: 1, Cols: len(y), Stride: len(y), Data: y}, alpha)
	}
	huge := linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1e300, 0, 0, 1e300}}
	for _, test := range []struct {
		err  error
		want string
	}{
		{fit(ones, []float64{1, 2}, -1), "ridge: alpha is -1; it must be finite and at least 0"},
		{targets([]float64{1, 2}, -1), "ridge: alpha is -1; it must be finite and at least 0"},
		{targets([]float64{1}, 1), "ridge: there are 1 targets for 2 kernel rows; the numbers must be equal"},
		{targets([]float64{1e308, -1e308}, 1e-12), "ridge: the coefficients overflow: scale the kernel and the targets to values near 1"},
		{targets([]float64{1, 2}, 0), "ridge: the kernel matrix plus 0 on its diagonal cannot be factored; use a larger alpha (noise): linalg: pivot 1 of the Cholesky factorisation is 0: the matrix is not positive definite to working precision"},
		{fit(ones, []float64{1, 2}, nan), "ridge: alpha is NaN; it must be finite and at least 0"},
		{fit(ones, []float64{1}, 1), "ridge: there are 1 targets for 2 kernel rows; the numbers must be equal"},
		{fit(linalg.New[float64](0, 0), nil, 1), "ridge: there are no rows to learn from"},
		{fit(ones, []float64{1, nan}, 1), "ridge: target 1 is NaN; it must be finite"},
		{fit(broken, []float64{1, 2}, 1), "ridge: kernel value (1, 0) is NaN: check the data and the kernel's parameters"},
		{fit(ones, []float64{1e308, -1e308}, 1e-12), "ridge: the coefficients overflow: scale the kernel and the targets to values near 1"},
		{gpOf(identity, []float64{1e200, 1}, ridge.GPParams{Noise: 1}), "ridge: the coefficients overflow: scale the kernel and the targets to values near 1"},
		{gpOf(huge, []float64{1, 2}, ridge.GPParams{Amplitude: 1e10, Noise: 1}), "ridge: the coefficients overflow: scale the kernel and the targets to values near 1"},
		{gp(ridge.GPParams{Amplitude: -1}), "ridge: amplitude is -1; it must be finite and above 0"},
		{gp(ridge.GPParams{Noise: -1}), "ridge: noise is -1; it must be finite and at least 0"},
		{gp(ridge.GPParams{}), "ridge: the kernel matrix plus 0 on its diagonal cannot be factored; use a larger alpha (noise): linalg: pivot 1 of the Cholesky factorisation is 0: the matrix is not positive definite to working precision"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", test.err, test.want)
		}
	}
	var pivot *linalg.PivotError
	if err := fit(ones, []float64{1, 2}, 0); !errors.As(err, &pivot) || pivot.Index != 1 {
		t.Errorf("no pivot in %v", err)
	}
}
