package linalg_test

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/linalg"
)

// shapes hits every edge: empty, single, around tiles and around depth.
var shapes = [][3]int{
	{0, 3, 2}, {3, 0, 2}, {2, 3, 0}, {1, 1, 1}, {1, 200, 7}, {47, 49, 255}, {48, 96, 256}, {65, 64, 257},
	{200, 130, 20}, {193, 5, 513}, {800, 790, 3},
}

func TestMulTransBEqualsTwin(t *testing.T) {
	for _, s := range shapes {
		a, b := noise[float64](s[0], s[2], 1), noise[float64](s[1], s[2], 2)
		a32, b32 := noise[float32](s[0], s[2], 1), noise[float32](s[1], s[2], 2)
		got, wide, narrow := linalg.New[float64](s[0], s[1]), linalg.New[float64](s[0], s[1]), linalg.New[float32](s[0], s[1])
		spoil(got)
		spoil(wide)
		spoil(narrow)
		linalg.MulTransB(got, a, b)
		linalg.MulTransBWide(wide, a32, b32)
		linalg.MulTransB(narrow, a32, b32)
		near(t, fmt.Sprint("MulTransB ", s), got, product(a, b), 1e-13)
		near(t, fmt.Sprint("MulTransBWide ", s), wide, product(a32, b32), 1e-13)
		near(t, fmt.Sprint("MulTransB in float32 ", s), narrow, product(a32, b32), 1e-4)
	}
}

// spoil fills m with what no product may leave behind.
func spoil[T linalg.Float](m linalg.Matrix[T]) {
	for i := range m.Data {
		m.Data[i] = T(math.NaN())
	}
}

// near compares with a tolerance for entries that are sums of a few hundred
// products of Gaussians.
func near[T linalg.Float](t *testing.T, what string, got linalg.Matrix[T], want linalg.Matrix[float64], tol float64) {
	t.Helper()
	for i := range want.Rows {
		for j, w := range want.Row(i) {
			if g := float64(got.Row(i)[j]); !(math.Abs(g-w) <= tol*(10+math.Abs(w))) {
				t.Fatalf("%s: entry (%d, %d) is %g, want %g", what, i, j, g, w)
			}
		}
	}
}

func TestSyrkIsMulTransBWithItself(t *testing.T) {
	for _, s := range shapes {
		x := noise[float64](s[0], s[2], 3)
		got, want := linalg.New[float64](s[0], s[0]), linalg.New[float64](s[0], s[0])
		spoil(got)
		linalg.Syrk(got, x)
		linalg.MulTransB(want, x, x)
		same(t, fmt.Sprint("Syrk ", s), got, want)

		x32 := noise[float32](s[0], s[2], 3)
		linalg.SyrkWide(got, x32)
		linalg.MulTransBWide(want, x32, x32)
		same(t, fmt.Sprint("SyrkWide ", s), got, want)
	}
}

// same compares bit for bit.
func same[T linalg.Float](t *testing.T, what string, got, want linalg.Matrix[T]) {
	t.Helper()
	for i := range want.Rows {
		for j, w := range want.Row(i) {
			if g := got.Row(i)[j]; math.Float64bits(float64(g)) != math.Float64bits(float64(w)) {
				t.Fatalf("%s: entry (%d, %d) is %g, want exactly %g", what, i, j, g, w)
			}
		}
	}
}

// Triangles are copied in several ways: at the diagonal, by squares, and past
// the caches when the matrix is large.
func TestSyrkIsExactlySymmetric(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for _, n := range []int{7, 300, 2064, 2053} {
			symmetric[float64](t, p, n)
			symmetric[float32](t, p, n)
		}
	})
}

func symmetric[T linalg.Float](t *testing.T, p linalg.Path, n int) {
	t.Helper()
	x, g, want := noise[T](n, 5, 4), linalg.New[T](n, n), linalg.New[T](n, n)
	spoil(g)
	linalg.SyrkOn(p, g, x)
	linalg.MulTransBOn(p, want, x, x)
	same(t, fmt.Sprintf("%T %d", g, n), g, want)
	for i := range n {
		for j := range i {
			if g.Row(i)[j] != g.Row(j)[i] {
				t.Fatalf("%T %d: (%d, %d): %g and %g", g, n, i, j, g.Row(i)[j], g.Row(j)[i])
			}
		}
	}
}

func TestSquaredNormsAreTheDiagonalOfSyrk(t *testing.T) {
	for _, s := range shapes {
		x, x32 := noise[float64](s[0], s[2], 5), noise[float32](s[0], s[2], 5)
		g, norms := linalg.New[float64](s[0], s[0]), make([]float64, s[0])
		linalg.Syrk(g, x)
		linalg.SquaredNorms(norms, x)
		diagonal(t, fmt.Sprint("float64 ", s), g, norms)
		linalg.SyrkWide(g, x32)
		linalg.SquaredNorms(norms, x32)
		diagonal(t, fmt.Sprint("float32 ", s), g, norms)
	}
}

func diagonal(t *testing.T, what string, g linalg.Matrix[float64], want []float64) {
	t.Helper()
	for i, w := range want {
		if g.Row(i)[i] != w {
			t.Fatalf("%s: norm %d is %g, the diagonal %g", what, i, w, g.Row(i)[i])
		}
	}
}

// A product made panel by panel, on any number of cores, is the same one.
func TestPanelsAndCoresDoNotMatter(t *testing.T) {
	x := noise[float64](500, 600, 6)
	whole := linalg.New[float64](500, 500)
	linalg.Syrk(whole, x)
	rapid.Check(t, func(r *rapid.T) {
		lo := rapid.IntRange(0, 499).Draw(r, "lo")
		hi := rapid.IntRange(lo+1, min(500, lo+40)).Draw(r, "hi")
		cores := rapid.IntRange(1, 4).Draw(r, "cores")
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		panel := linalg.New[float64](hi-lo, 500)
		linalg.MulTransB(panel, x.Panel(lo, hi), x)
		same(t, fmt.Sprintf("rows %d to %d on %d cores", lo, hi-1, cores), panel, whole.Panel(lo, hi))
	})
}

// Blocked sums keep the error of long rows near one rounding: here the naive
// sum is off by more than ten times as much.
func TestLongSumsStayAccurate(t *testing.T) {
	const n = 1 << 20
	x := linalg.New[float64](1, n)
	var exact, naive float64
	for i := range x.Data {
		x.Data[i] = math.Sqrt(0.1)
		naive += x.Data[i] * x.Data[i]
	}
	exact = math.FMA(x.Data[0], x.Data[0], 0) * n // n is a power of two
	got := linalg.New[float64](1, 1)
	linalg.Syrk(got, x)
	if off, bad := math.Abs(got.Data[0]-exact), math.Abs(naive-exact); off > 1e-13*exact || bad < 10*off {
		t.Errorf("off by %g, the naive sum by %g, of %g", off, bad, exact)
	}
}

// Wide products tell near-duplicates apart that float32 sums cannot.
func TestWideKeepsSmallDistances(t *testing.T) {
	x := noise[float32](2, 5000, 7)
	copy(x.Row(1), x.Row(0))
	x.Row(1)[17] += 1.0 / 1024
	g := linalg.New[float64](2, 2)
	linalg.SyrkWide(g, x)
	d := g.Row(0)[0] + g.Row(1)[1] - 2*g.Row(0)[1]
	step := float64(x.Row(1)[17]) - float64(x.Row(0)[17])
	if want := step * step; math.Abs(d-want) > 1e-3*want {
		t.Errorf("squared distance %g, want %g", d, want)
	}
}

func TestProductsAgreeWithGonum(t *testing.T) {
	a, b := noise[float64](120, 333, 8), noise[float64](90, 333, 9)
	got := linalg.New[float64](120, 90)
	linalg.MulTransB(got, a, b)
	var want mat.Dense
	want.Mul(gonum(a), gonum(b).T())
	near(t, "against gonum", got, linalg.Matrix[float64]{Rows: 120, Cols: 90, Stride: 90, Data: want.RawMatrix().Data}, 1e-13)
}

func gonum(m linalg.Matrix[float64]) *mat.Dense {
	return mat.DenseCopyOf(mat.NewDense(m.Rows, m.Stride, m.Data).Slice(0, m.Rows, 0, m.Cols))
}

func TestProductsWriteOnlyTheirMatrix(t *testing.T) {
	x := noise[float64](70, 10, 10)
	dst := linalg.Matrix[float64]{Rows: 70, Cols: 70, Stride: 75, Data: make([]float64, 70*75)}
	spoil(dst)
	linalg.Syrk(dst, x)
	for i := range 70 {
		for _, v := range dst.Data[i*75+70 : i*75+75] {
			if !math.IsNaN(v) {
				t.Fatalf("row %d: wrote %g past its end", i, v)
			}
		}
	}
}

func TestProductsRefuseWrongShapes(t *testing.T) {
	m := linalg.New[float64]
	for name, f := range map[string]func(){
		"inner":        func() { linalg.MulTransB(m(2, 3), m(2, 4), m(3, 5)) },
		"rows":         func() { linalg.MulTransB(m(3, 3), m(2, 4), m(3, 4)) },
		"columns":      func() { linalg.MulTransB(m(2, 2), m(2, 4), m(3, 4)) },
		"not square":   func() { linalg.Syrk(m(2, 3), m(2, 4)) },
		"norms":        func() { linalg.SquaredNorms(make([]float64, 3), m(2, 4)) },
		"wide columns": func() { linalg.MulTransBWide(m(2, 2), linalg.New[float32](2, 4), linalg.New[float32](3, 4)) },
	} {
		if recovered(f) == nil {
			t.Errorf("%s: no panic", name)
		}
	}
}
