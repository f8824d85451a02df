package ridge_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/ridge"
	"github.com/mercer-fl/mercer/linalg"
)

func never() error { return nil }

// TestLeaveOneOutIsBruteForce: the residual of each row, and its variance, are those of a Gaussian
// process that is fitted without the row, for two rows of targets at once.
func TestLeaveOneOutIsBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(2, 40), rapid.SampledFrom([]int{257, 300})).Draw(t, "n")
		seed, alpha := rapid.Uint64().Draw(t, "seed"), math.Exp(rapid.Float64Range(-3, 3).Draw(t, "log alpha"))
		x, y := noise(n, 3, seed), noise(2, n, seed+1)
		k := rbf(x, x)
		got, err := ridge.LeaveOneOut(kernel.Dense{K: k}, y, nil, alpha, never)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, n / 2, n - 1} {
			others := dataset.Complement(n, []int{i})
			src := kernel.Dense{K: k}
			cross := linalg.New[float64](1, n-1)
			src.Block([]int{i}, others, cross)
			for target := range y.Rows {
				gp, err := ridge.FitGP(kernel.Subset(src, others), linalg.At(y.Row(target), others), ridge.GPParams{Noise: alpha})
				if err != nil {
					t.Fatal(err)
				}
				want := y.Row(target)[i] - gp.Predict(cross)[0]
				if d := got.Residuals.Row(target)[i]; math.Abs(d-want) > 1e-9*(1+math.Abs(want)) {
					t.Fatalf("target %d of row %d: residual %v, without the row %v", target, i, d, want)
				}
				deviation := gp.Deviations(cross, []float64{k.Row(i)[i]})[0]
				if v := got.Variances[i]; math.Abs(v-deviation*deviation) > 1e-9*(1+v) {
					t.Fatalf("variance of row %d: %v, without the row %v", i, v, deviation*deviation)
				}
			}
		}
	})
}

// TestLeaveOneOutWithWeights: each residual is that of the weighted regression without the row. A row
// whose weight is not above 0 trains nothing, so that the regression on all rows predicts it.
func TestLeaveOneOutWithWeights(t *testing.T) {
	const n = 24
	x, y := noise(n, 2, 5), noise(1, n, 6)
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = float64(i%5) / 2
	}
	weights[7] = -1
	src := kernel.Dense{K: rbf(x, x)}
	got, err := ridge.LeaveOneOut(src, y, weights, .3, never)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		others := dataset.Complement(n, []int{i})
		m, err := ridge.FitWeighted(kernel.Subset(src, others), linalg.At(y.Data, others), linalg.At(weights, others), .3, never)
		if err != nil {
			t.Fatal(err)
		}
		cross := linalg.New[float64](1, n-1)
		src.Block([]int{i}, others, cross)
		want := y.Data[i] - m.Predict(cross)[0]
		if d := got.Residuals.Data[i]; math.Abs(d-want) > 1e-12 {
			t.Errorf("row %d of weight %v: residual %v, without the row %v", i, weights[i], d, want)
		}
		if (got.Variances[i] == 0) != (weights[i] <= 0) {
			t.Errorf("row %d of weight %v: variance %v", i, weights[i], got.Variances[i])
		}
	}
}

// TestWeightTwoIsTwoRows: whole weights are copies of rows.
func TestWeightTwoIsTwoRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, seed := rapid.IntRange(1, 30).Draw(t, "n"), rapid.Uint64().Draw(t, "seed")
		x, z, y := noise(n, 3, seed), noise(4, 3, seed+1), noise(1, n, seed+2).Data
		weights, copies := make([]float64, n), []int{0}
		weights[0] = 1
		for i := 1; i < n; i++ {
			weights[i] = float64(rapid.IntRange(-1, 3).Draw(t, "weight"))
			for range int(max(0, weights[i])) {
				copies = append(copies, i)
			}
		}
		src := kernel.Dense{K: rbf(x, x)}
		m, err := ridge.FitWeighted(src, y, weights, .5, never)
		if err != nil {
			t.Fatal(err)
		}
		twin, err := ridge.Fit(kernel.Subset(src, copies), linalg.At(y, copies), .5)
		if err != nil {
			t.Fatal(err)
		}
		all := rbf(z, x)
		cross := linalg.New[float64](z.Rows, len(copies))
		for i := range z.Rows {
			copy(cross.Row(i), linalg.At(all.Row(i), copies))
		}
		want := twin.Predict(cross)
		for i, v := range m.Predict(all) {
			if math.Abs(v-want[i]) > 1e-10*(1+math.Abs(want[i])) {
				t.Fatalf("prediction %d is %v, with copies of rows %v", i, v, want[i])
			}
		}
	})
}

// TestWeightsAreScikitLearns: the predictions of KernelRidge(alpha=0.5, kernel="rbf",
// gamma=0.5).fit(x, y, sample_weight=w).predict(x) of scikit-learn 1.9.1.
func TestWeightsAreScikitLearns(t *testing.T) {
	x := linalg.Matrix[float64]{Rows: 6, Cols: 1, Stride: 1, Data: []float64{-2, -1, 0, .5, 1.5, 3}}
	y, w := []float64{1, .5, -1, 2, 3, -2}, []float64{.1, 1, 2.5, 0, 4, .7}
	want := []float64{0.4906442414530115, -0.08931920015299702, -0.5055492550760528, 0.4746201132026475, 2.5152581980646476, -0.6533697971060564}
	m, err := ridge.FitWeighted(kernel.Dense{K: rbf(x, x)}, y, w, .5, never)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range m.Predict(rbf(x, x)) {
		if math.Abs(v-want[i]) > 1e-14 {
			t.Errorf("prediction %d is %.17g, scikit-learn's %.17g", i, v, want[i])
		}
	}
}

func TestWeightsRefused(t *testing.T) {
	src := kernel.Dense{K: rbf(noise(2, 1, 1), noise(2, 1, 1))}
	y := []float64{1, 2}
	for _, c := range []struct {
		weights []float64
		says    string
	}{
		{[]float64{1}, "ridge: there are 1 weights for 2 kernel rows; the numbers must be equal"},
		{[]float64{1, math.NaN()}, "ridge: the weight of row 1 is NaN; a weight must be finite"},
		{[]float64{1, math.Inf(1)}, "ridge: the weight of row 1 is +Inf; a weight must be finite"},
		{[]float64{0, -1}, "ridge: no row has a weight above 0"},
	} {
		_, err := ridge.FitWeighted(src, y, c.weights, 1, never)
		_, left := ridge.LeaveOneOut(src, linalg.Matrix[float64]{Rows: 1, Cols: 2, Stride: 2, Data: y}, c.weights, 1, never)
		for _, err := range []error{err, left} {
			if err == nil || !strings.HasPrefix(err.Error(), c.says) {
				t.Errorf("%v: %v, want %s", c.weights, err, c.says)
			}
		}
	}
	if _, err := ridge.FitWeighted(src, y, []float64{1, 1}, math.NaN(), never); err == nil || !strings.Contains(err.Error(), "alpha is NaN") {
		t.Errorf("error %v", err)
	}
}

func TestLeaveOneOutIsInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	x := noise(30, 2, 1)
	if _, err := ridge.LeaveOneOut(kernel.Dense{K: rbf(x, x)}, noise(1, 30, 2), nil, 1, ctx.Err); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
