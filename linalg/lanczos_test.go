package linalg_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/linalg"
)

// spiked returns the kernel matrix exp(-|x_i - x_j|^2 / 8) of n noise points
// in four dimensions, plus a little on the diagonal: its eigenvalues decay.
func spiked(n int) (points, k linalg.Matrix[float64]) {
	points = noise[float64](n, 4, 9)
	k = product(points, points)
	norms := make([]float64, n)
	for i := range n {
		norms[i] = k.Row(i)[i]
	}
	for i := range n {
		for j := range n {
			k.Row(i)[j] = math.Exp((2*k.Row(i)[j] - norms[i] - norms[j]) / 8)
		}
		k.Row(i)[i] += 0.01
	}
	return points, k
}

func times(a linalg.Matrix[float64]) func(dst, x []float64) {
	return func(dst, x []float64) { linalg.MulVec(dst, a, x) }
}

// withValues returns a symmetric matrix with the given eigenvalues: Q D Q^T
// with Q a product of reflections.
func withValues(values []float64, seed uint64) linalg.Matrix[float64] {
	n := len(values)
	q := identity(n)
	for r := range 3 {
		v := noise[float64](1, n, seed+uint64(r)).Row(0)
		v[0]++
		length := 0.0
		for _, x := range v {
			length += x * x
		}
		for i := range n {
			d := 0.0
			for j, x := range v {
				d += x * q.Row(i)[j]
			}
			for j, x := range v {
				q.Row(i)[j] -= 2 * d / length * x
			}
		}
	}
	scaled := linalg.New[float64](n, n)
	for i := range n {
		for j, x := range values {
			scaled.Row(i)[j] = q.Row(i)[j] * x
		}
	}
	return product(scaled, q)
}

// checkPairs compares with all eigenvalues, by a dense solver, and verifies the
// vectors from the definition.
func checkPairs(t interface {
	Helper()
	Fatalf(string, ...any)
}, a linalg.Matrix[float64], k int, tol float64) {
	t.Helper()
	values, vectors, err := linalg.Lanczos(a.Rows, k, tol, times(a))
	if err != nil {
		t.Fatalf("%v", err)
	}
	var dense mat.EigenSym
	if !dense.Factorize(mat.NewSymDense(a.Rows, a.Data), false) {
		t.Fatalf("the dense solver fails")
	}
	all := dense.Values(nil)
	norm := max(math.Abs(all[0]), math.Abs(all[len(all)-1]))
	product := make([]float64, a.Rows)
	for i, got := range values {
		if want := all[len(all)-1-i]; math.Abs(got-want) > 10*tol*norm {
			t.Fatalf("n = %d, eigenvalue %d is %v, want %v", a.Rows, i, got, want)
		}
		times(a)(product, vectors.Row(i))
		for c, v := range vectors.Row(i) {
			if math.Abs(product[c]-got*v) > 10*tol*norm {
				t.Fatalf("n = %d: vector %d of %v is no eigenvector", a.Rows, i, got)
			}
		}
		for j := range i + 1 {
			d := 0.0
			for c, v := range vectors.Row(i) {
				d += v * vectors.Row(j)[c]
			}
			if i == j {
				d--
			}
			if math.Abs(d) > 1e-12 {
				t.Fatalf("n = %d: vectors %d and %d are not orthonormal: %v", a.Rows, i, j, d)
			}
		}
	}
}

func TestLanczosEqualsDense(t *testing.T) {
	_, smooth := spiked(400)
	checkPairs(t, smooth, 20, 1e-11)
	_, small := spiked(30)
	for _, k := range []int{1, 7, 29, 30} {
		checkPairs(t, small, k, 1e-12)
	}
	checkPairs(t, identity(1), 1, 1e-12)
	checkPairs(t, identity(9), 4, 1e-12)
	checkPairs(t, linalg.New[float64](6, 6), 6, 1e-12)
	ones := linalg.New[float64](40, 40)
	for i := range ones.Data {
		ones.Data[i] = -1
	}
	checkPairs(t, ones, 3, 1e-12)
}

// TestLanczosFindsEveryCopy: one start vector cannot see that an eigenvalue is
// there twice.
func TestLanczosFindsEveryCopy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		levels := rapid.SliceOfN(rapid.IntRange(-3, 5), 1, 60).Draw(t, "eigenvalues")
		values := make([]float64, len(levels))
		for i, v := range levels {
			values[i] = float64(v)
		}
		a := withValues(values, 3)
		checkPairs(t, a, rapid.IntRange(1, len(values)).Draw(t, "k"), 1e-11)
	})
}

func TestLanczosFindsCopiesAmongMany(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	values := make([]float64, 300)
	for i := range values {
		values[i] = math.Exp(-float64(i) / 30)
	}
	values[1], values[2] = values[0], values[0]
	values[9] = values[8] * (1 + 1e-9)
	checkPairs(t, withValues(values, 8), 10, 1e-11)
}

func TestLanczosIsTheSameOnOneCore(t *testing.T) {
	_, a := spiked(300)
	values, vectors, err := linalg.Lanczos(300, 5, 1e-10, times(a))
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	again, vectorsAgain, err := linalg.Lanczos(300, 5, 1e-10, times(a))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(values, again) + cmp.Diff(vectors, vectorsAgain); d != "" {
		t.Error(d)
	}
}

func TestLanczosErrors(t *testing.T) {
	_, a := spiked(50)
	a.Row(7)[9] = math.NaN()
	if _, _, err := linalg.Lanczos(50, 3, 1e-10, times(a)); err == nil || !strings.Contains(err.Error(), "NaN") {
		t.Errorf("NaN: %v", err)
	}
}

func BenchmarkLanczos(b *testing.B) {
	for _, n := range []int{500, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			_, a := spiked(n)
			steps := 0
			for b.Loop() {
				_, _, err := linalg.Lanczos(n, 20, 1e-10, func(dst, x []float64) {
					steps++
					linalg.MulVec(dst, a, x)
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(steps)/float64(b.N), "products/op")
		})
	}
}
