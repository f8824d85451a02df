package kpca

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/dataset"
	"github.com/mercer-fl/mercer/dataset/bundled"
	"github.com/mercer-fl/mercer/kernel"
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

func rbf(t testing.TB, gamma float64) kernel.Kernel {
	t.Helper()
	k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: gamma})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func cross(k kernel.Kernel, a, b linalg.Matrix[float64]) linalg.Matrix[float64] {
	c := kernel.CrossGram(a, b)
	kernel.Cross(k, c, kernel.SquaredNorms(a), kernel.SquaredNorms(b))
	return c
}

// wdbc is scaled to [0, 1] by all rows; every fourth row is test.
func wdbc(t *testing.T) (train, test linalg.Matrix[float64]) {
	t.Helper()
	set, err := bundled.Load("wdbc")
	if err != nil {
		t.Fatal(err)
	}
	x := dataset.DenseOf(set.X).Matrix()
	for c := range x.Cols {
		lo, hi := math.Inf(1), math.Inf(-1)
		for r := range x.Rows {
			lo, hi = min(lo, x.Row(r)[c]), max(hi, x.Row(r)[c])
		}
		for r := range x.Rows {
			x.Row(r)[c] = (x.Row(r)[c] - lo) / (hi - lo)
		}
	}
	train = linalg.Matrix[float64]{Cols: x.Cols, Stride: x.Cols}
	test = train
	for r := range x.Rows {
		m := &train
		if r%4 == 3 {
			m = &test
		}
		m.Data, m.Rows = append(m.Data, x.Row(r)...), m.Rows+1
	}
	return train, test
}

// TestAsScikitLearn compares with scikit-learn 1.2.1 on WDBC.
func TestAsScikitLearn(t *testing.T) {
	var want struct {
		KPCA struct {
			Gamma       float64
			Eigenvalues []float64
			Scores      [][]float64 `json:"test_scores_abs"`
		} `json:"kpca_rbf"`
	}
	text, err := os.ReadFile("testdata/golden.json")
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(want.KPCA.Eigenvalues) != 5 || len(want.KPCA.Scores) != 5 {
		t.Fatalf("golden values %+v", want)
	}
	train, test := wdbc(t)
	k := rbf(t, want.KPCA.Gamma)
	m, err := Fit(kernel.Of(kernel.LinearGram(train), k), 5)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want.KPCA.Eigenvalues {
		if math.Abs(m.Eigenvalues[i]-w) > 1e-10 {
			t.Errorf("eigenvalue %d is %v, want %v", i, m.Eigenvalues[i], w)
		}
	}
	scores := m.Transform(cross(k, test, train))
	for i, row := range want.KPCA.Scores {
		for c, w := range row {
			if got := math.Abs(scores.Row(i)[c]); math.Abs(got-w) > 1e-10 {
				t.Errorf("score %d of row %d is %v, want %v", c, i, got, w)
			}
		}
	}
}

// TestLanczosEqualsDense: 20 eigenvalues at n = 400 to 1e-8, in fact better,
// and the same scores.
func TestLanczosEqualsDense(t *testing.T) {
	x := noise(400, 6, 1)
	k := kernel.Materialize(kernel.Of(kernel.LinearGram(x), rbf(t, 0.1))).K
	const components = 20
	dense, iterated := &Model{Centring: means(k)}, &Model{Centring: means(k)}
	if err := dense.dense(k, components); err != nil {
		t.Fatal(err)
	}
	if err := iterated.lanczos(k, components, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	for i, want := range dense.Eigenvalues {
		if got := iterated.Eigenvalues[i]; math.Abs(got-want) > 1e-11*dense.Eigenvalues[0] {
			t.Errorf("eigenvalue %d is %v, the dense solver has %v", i, got, want)
		}
		fixSign(dense.Vectors.Row(i))
		fixSign(iterated.Vectors.Row(i))
		for j, want := range dense.Vectors.Row(i) {
			if got := iterated.Vectors.Row(i)[j]; math.Abs(got-want) > 1e-8 {
				t.Fatalf("entry %d of vector %d is %v, the dense solver has %v", j, i, got, want)
			}
		}
	}
}

// TestLinearKernelIsPCA: with all components of a linear kernel, the scores
// keep the inner products of the centred rows, on both sides of denseRows, and
// Transform of the training rows gives Scores.
func TestLinearKernelIsPCA(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, n := range []int{12, denseRows - 1, denseRows} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			x := noise(n, 4, 2)
			gram := kernel.LinearGram(x)
			m, err := Fit(kernel.Dense{K: gram}, 4)
			if err != nil {
				t.Fatal(err)
			}
			if kernel.LinearGram(x).Data[1] != gram.Data[1] {
				t.Fatal("Fit has changed the matrix")
			}
			scores, again := m.Scores(), m.Transform(gram)
			kernel.Center(gram)
			got := kernel.LinearGram(scores)
			for i, want := range gram.Data {
				if math.Abs(got.Data[i]-want) > 1e-9 {
					t.Fatalf("inner product %d is %v, want %v", i, got.Data[i], want)
				}
			}
			for i, want := range scores.Data {
				if math.Abs(again.Data[i]-want) > 1e-9 {
					t.Fatalf("score %d of a training row is %v, as a new row %v", i, want, again.Data[i])
				}
			}
			if _, err := Fit(kernel.Dense{K: kernel.LinearGram(x)}, 5); err == nil || err.Error() !=
				"kpca: the centred kernel matrix has 4 components with a positive eigenvalue, but components is 5; choose fewer" {
				t.Errorf("five components of four columns: %v", err)
			}
		})
	}
}

// TestProperties: scores are centred, uncorrelated, and their squares add up
// to the eigenvalues; signs are fixed.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(4, 60).Draw(t, "n")
		x := noise(n, 3, rapid.Uint64().Draw(t, "seed"))
		k, err := kernel.New(kernel.Spec{Name: "rbf", Gamma: 0.3})
		if err != nil {
			t.Fatal(err)
		}
		m, err := Fit(kernel.Of(kernel.LinearGram(x), k), 3)
		if err != nil {
			t.Fatal(err)
		}
		s := m.Scores()
		for c, lambda := range m.Eigenvalues {
			for d := range c + 1 {
				sum, product := 0.0, 0.0
				for i := range n {
					sum += s.Row(i)[c]
					product += s.Row(i)[c] * s.Row(i)[d]
				}
				if c == d {
					product -= lambda
				}
				if math.Abs(sum) > 1e-9 || math.Abs(product) > 1e-9 {
					t.Fatalf("components %d and %d: sum %v, product off by %v", c, d, sum, product)
				}
			}
			largest := 0.0
			for _, u := range m.Vectors.Row(c) {
				if math.Abs(u) > math.Abs(largest) {
					largest = u
				}
			}
			if largest <= 0 {
				t.Fatalf("the largest entry of component %d is %v", c, largest)
			}
		}
	})
}

func TestErrors(t *testing.T) {
	good := kernel.Dense{K: kernel.LinearGram(noise(5, 5, 1))}
	broken := kernel.Dense{K: kernel.LinearGram(noise(5, 5, 1))}
	broken.K.Data[7] = math.Inf(1)
	for _, test := range []struct {
		src        kernel.Source
		components int
		want       string
	}{
		{good, 0, "components is 0 for 5 rows; choose 1 to 5"},
		{good, 6, "components is 6 for 5 rows; choose 1 to 5"},
		{broken, 1, "holds a NaN or an infinity"},
		{kernel.Dense{K: linalg.New[float64](5, 5)}, 1, "has 0 components with a positive eigenvalue"},
	} {
		if _, err := Fit(test.src, test.components); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

// TestFitAtMost: of a matrix of rank 3, the components are the first three, by both methods, and a
// matrix of zeros has none.
func TestFitAtMost(t *testing.T) {
	for _, n := range []int{40, denseRows + 20} {
		k := kernel.Dense{K: kernel.LinearGram(noise(n, 3, 5))}
		m, err := FitAtMost(k, 10)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Fit(k, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Eigenvalues) != 3 || m.Vectors.Rows != 3 {
			t.Fatalf("%d rows: eigenvalues %v, %d vectors", n, m.Eigenvalues, m.Vectors.Rows)
		}
		for c, v := range want.Eigenvalues {
			if math.Abs(m.Eigenvalues[c]-v) > 1e-9*v {
				t.Errorf("%d rows: eigenvalue %d is %v, want %v", n, c, m.Eigenvalues[c], v)
			}
		}
	}
	m, err := FitAtMost(kernel.Dense{K: linalg.New[float64](5, 5)}, 2)
	if err != nil || len(m.Eigenvalues) != 0 {
		t.Errorf("zeros: %+v, %v", m, err)
	}
}

// BenchmarkFit is the first 20 components of a matrix that is ready, 328 MB, of
// rows around 40 centres.
func BenchmarkFit(b *testing.B) {
	const n, f = 6400, 200
	x, centres := noise(n, f, 1), noise(40, f, 2)
	for i := range n {
		for j, c := range centres.Row(i % 40) {
			x.Row(i)[j] = c + 0.5*x.Row(i)[j]
		}
	}
	k := kernel.Materialize(kernel.Of(kernel.LinearGram(x), rbf(b, 1./400)))
	for b.Loop() {
		if _, err := Fit(k, 20); err != nil {
			b.Fatal(err)
		}
	}
}
