package svm_test

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/learn/metrics"
	"github.com/mercer-fl/mercer/learn/svm"
	"github.com/mercer-fl/mercer/linalg"
)

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

// standardise gives each column of x mean 0 and variance 1 over all rows.
func standardise(x linalg.Matrix[float64]) {
	for c := range x.Cols {
		sum, squares := 0.0, 0.0
		for r := range x.Rows {
			sum += x.Row(r)[c]
		}
		mean := sum / float64(x.Rows)
		for r := range x.Rows {
			squares += (x.Row(r)[c] - mean) * (x.Row(r)[c] - mean)
		}
		for r := range x.Rows {
			x.Row(r)[c] = (x.Row(r)[c] - mean) / math.Sqrt(squares/float64(x.Rows))
		}
	}
}

// TestGoldenRegression compares epsilon-SVR with scikit-learn on the diabetes
// data. scikit-learn's intercept_ is -rho.
func TestGoldenRegression(t *testing.T) {
	want := readGolden(t)["svr_rbf"]
	targets := numbers(t, "diabetes_target.csv.gz")
	x := linalg.Matrix[float64]{Rows: len(targets), Cols: 10, Stride: 10, Data: numbers(t, "diabetes_data_raw.csv.gz")}
	standardise(x)
	train, test := linalg.Matrix[float64]{Cols: 10, Stride: 10}, linalg.Matrix[float64]{Cols: 10, Stride: 10}
	var trainTargets, testTargets []float64
	for r, y := range targets {
		if r%4 == 3 {
			test.Data, test.Rows, testTargets = append(test.Data, x.Row(r)...), test.Rows+1, append(testTargets, y)
		} else {
			train.Data, train.Rows, trainTargets = append(train.Data, x.Row(r)...), train.Rows+1, append(trainTargets, y)
		}
	}
	k, err := kernel.New(want.spec())
	if err != nil {
		t.Fatal(err)
	}
	m := svm.MustSVR(t, kernel.Of(kernel.LinearGram(train), k), trainTargets, svm.SVRParams{C: want.C, Epsilon: want.Epsilon, Tol: 1e-6})
	sv := linalg.New[float64](len(m.Support), 10)
	for i, r := range m.Support {
		copy(sv.Row(i), train.Row(r))
	}
	cross := kernel.CrossGram(test, sv)
	kernel.Cross(k, cross, kernel.SquaredNorms(test), kernel.SquaredNorms(sv))
	got := m.Decisions(cross)
	if len(want.FirstPredictions) != 10 {
		t.Fatalf("%+v", want)
	}
	for i, w := range want.FirstPredictions {
		if math.Abs(got[i]-w) > 1e-4 {
			t.Errorf("prediction %d is %v, want %v", i, got[i], w)
		}
	}
	if len(m.Support) != want.NSV || math.Abs(-m.Rho-want.Intercept) > 1e-4 {
		t.Errorf("%d support vectors, intercept %v; want %d, %v", len(m.Support), -m.Rho, want.NSV, want.Intercept)
	}
	if rmse, err := metrics.RMSE(testTargets, got); err != nil || math.Abs(rmse-want.RMSE) > 1e-5 {
		t.Errorf("RMSE %v, %v; want %v", rmse, err, want.RMSE)
	}
}
