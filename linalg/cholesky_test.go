package linalg_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/mercer-fl/mercer/linalg"
)

// positiveDefinite returns x x^T + I of a noise x, with NaN above the
// diagonal, where nothing may look.
func positiveDefinite(n int, seed uint64) (whole, lower linalg.Matrix[float64]) {
	x := noise[float64](n, n+1, seed)
	whole = product(x, x)
	lower = linalg.Matrix[float64]{Rows: n, Cols: n, Stride: n + 2, Data: make([]float64, n*(n+2))}
	spoil(lower)
	for i := range n {
		whole.Row(i)[i]++
		copy(lower.Row(i)[:i+1], whole.Row(i))
	}
	return whole, lower
}

// factor returns the L that Cholesky made, with zeros above its diagonal.
func factor(l linalg.Matrix[float64]) linalg.Matrix[float64] {
	out := linalg.New[float64](l.Rows, l.Cols)
	for i := range l.Rows {
		copy(out.Row(i)[:i+1], l.Row(i))
	}
	return out
}

var orders = []int{0, 1, 2, 63, 64, 65, 130, 200}

func TestCholesky(t *testing.T) {
	for _, n := range orders {
		whole, l := positiveDefinite(n, 4)
		if err := linalg.Cholesky(l); err != nil {
			t.Fatalf("n = %d: %v", n, err)
		}
		f := factor(l)
		near(t, fmt.Sprint("L L^T of ", n), product(f, f), whole, 1e-12)
		if n == 0 {
			continue
		}
		var twin mat.Cholesky
		if !twin.Factorize(mat.NewSymDense(n, whole.Data)) {
			t.Fatal("the twin fails")
		}
		if got, want := linalg.LogDet(l), twin.LogDet(); math.Abs(got-want) > 1e-10*(1+math.Abs(want)) {
			t.Errorf("n = %d: log det %v, want %v", n, got, want)
		}
	}
}

func TestSolveCholesky(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, n := range orders {
		for _, m := range []int{0, 1, 70} {
			whole, l := positiveDefinite(n, 5)
			if err := linalg.Cholesky(l); err != nil {
				t.Fatal(err)
			}
			b := noise[float64](m, n, 6)
			want := product(b, identity(n))
			lower := noise[float64](m, n, 6)
			linalg.SolveLower(l, lower)
			near(t, fmt.Sprint("L x of ", n), product(lower, factor(l)), want, 1e-10)
			linalg.SolveCholesky(l, b)
			near(t, fmt.Sprint("A x of ", n), product(b, whole), want, 1e-9)
			linalg.SolveLowerTrans(l, lower)
			near(t, fmt.Sprint("both halves of ", n), lower, product(b, identity(n)), 0)
		}
	}
}

func identity(n int) linalg.Matrix[float64] {
	m := linalg.New[float64](n, n)
	for i := range n {
		m.Row(i)[i] = 1
	}
	return m
}

func TestCholeskyNamesThePivot(t *testing.T) {
	for _, bad := range []int{0, 5, 63, 64, 100, 129} {
		for _, value := range []float64{-1, 0, math.NaN(), math.Inf(1)} {
			a := identity(130)
			a.Row(bad)[bad] = value
			var pivot *linalg.PivotError
			if err := linalg.Cholesky(a); !errors.As(err, &pivot) || pivot.Index != bad {
				t.Errorf("%v at %d: error %v", value, bad, err)
			}
		}
	}
	singular := linalg.Matrix[float64]{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 1, 1, 1}}
	want := "linalg: pivot 1 of the Cholesky factorisation is 0: the matrix is not positive definite to working precision"
	if err := linalg.Cholesky(singular); err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestFactorsPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"not square":  func() { _ = linalg.Cholesky(linalg.New[float64](2, 3)) },
		"wrong width": func() { linalg.SolveCholesky(linalg.New[float64](2, 2), linalg.New[float64](1, 3)) },
		"no pairs":    func() { _, _, _ = linalg.Lanczos(3, 0, 1e-10, times(identity(3))) },
		"too precise": func() { _, _, _ = linalg.Lanczos(3, 1, 1e-15, times(identity(3))) },
		"MulVec":      func() { linalg.MulVec(make([]float64, 2), linalg.New[float64](2, 2), make([]float64, 3)) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func BenchmarkCholesky(b *testing.B) {
	for _, n := range []int{500, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			_, source := spiked(n)
			a := linalg.New[float64](n, n)
			for b.Loop() {
				copy(a.Data, source.Data)
				if err := linalg.Cholesky(a); err != nil {
					b.Fatal(err)
				}
			}
			flop := math.Pow(float64(n), 3) / 3
			b.ReportMetric(flop*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
		})
	}
}
