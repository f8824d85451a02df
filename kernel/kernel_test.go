package kernel_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/kernel"
	"github.com/mercer-fl/mercer/linalg"
)

// Each kernel has its formula's values for each of several settings, however they are computed: for two
// rows, for a whole matrix of several tiles, in place, row by row, on the diagonal, for new rows, or on
// request from rows.
func TestKernelsEqualTheirFormulas(t *testing.T) {
	list := slices.Concat(specs(), []kernel.Spec{
		{Name: "rbf", Gamma: 1.7, Amplitude: 0.4}, {Name: "rational-quadratic"}, {Name: "rational-quadratic", LengthScale: 0.8, Alpha: 2},
		{Name: "rational-quadratic", LengthScale: 2, Alpha: 5.5, Amplitude: 4},
	})
	for degree := range 9 {
		list = append(list, kernel.Spec{Name: "polynomial", Gamma: 0.2, Coef0: 0.5 * float64(degree%3), Degree: degree + 1})
	}
	x := noise(150, 6, 1)
	for _, s := range list {
		want := linalg.New[float64](x.Rows, x.Rows)
		for i := range want.Rows {
			for j := range want.Cols {
				want.Row(i)[j] = twin(complete(s), x.Row(i), x.Row(j))
			}
		}
		for how, got := range waysTo(t, s, x) {
			for i := range got.Rows {
				for j, v := range got.Row(i) {
					if w := want.Row(i)[j]; !(math.Abs(v-w) <= 1e-13*max(1, math.Abs(w))) {
						t.Fatalf("%v, %s: K(%d, %d) = %g, want %g", s, how, i, j, v, w)
					}
				}
			}
		}
	}
}

// complete fills in the defaults that the twin needs.
func complete(s kernel.Spec) kernel.Spec {
	if s.Name == "rational-quadratic" {
		s.LengthScale, s.Alpha = cmp.Or(s.LengthScale, 1), cmp.Or(s.Alpha, 1)
	}
	return s
}

// waysTo computes the kernel matrix of rows in each way that package kernel has.
func waysTo(t *testing.T, s kernel.Spec, x linalg.Matrix[float64]) map[string]linalg.Matrix[float64] {
	t.Helper()
	k, dot, n := mustNew(t, s), kernel.LinearGram(x), x.Rows
	ways := map[string]linalg.Matrix[float64]{
		"matrix": kernel.Materialize(kernel.Of(dot, k)).K, "in place": kernel.MaterializeGram(kernel.LinearGram(x), k).K,
		"on request": kernel.Materialize(kernel.NewLazy(x, k)).K, "new rows": kernel.CrossGram(x, x),
	}
	kernel.Cross(k, ways["new rows"], kernel.SquaredNorms(x), kernel.SquaredNorms(x))
	ways["pairs"] = linalg.New[float64](n, n)
	for i := range n {
		for j := range n {
			ways["pairs"].Row(i)[j] = k.At(dot.Row(i)[j], dot.Row(i)[i], dot.Row(j)[j])
		}
	}
	for name, src := range map[string]kernel.Source{"matrix": kernel.Of(dot, k), "on request": kernel.NewLazy(x, k)} {
		rows, diagonal := linalg.New[float64](n, n), make([]float64, n)
		src.Diagonal(diagonal)
		for i := range n {
			src.Row(i, rows.Row(i))
			if d := math.Abs(diagonal[i] - rows.Row(i)[i]); d > 1e-13*max(1, math.Abs(diagonal[i])) {
				t.Errorf("%v, %s: the diagonal has %v in place of %v", s, name, diagonal[i], rows.Row(i)[i])
			}
		}
		ways["rows of the "+name] = rows
	}
	return ways
}

// By hand: x = (1, 2), z = (3, 1), so x.z = 5, x.x = 5, z.z = 10, D = 5.
func TestGoldenValues(t *testing.T) {
	for _, c := range []struct {
		spec kernel.Spec
		want float64
	}{
		{kernel.Spec{Name: "linear"}, 5},
		{kernel.Spec{Name: "rbf", Gamma: 0.2}, 0.36787944117144233},                     // 1/e
		{kernel.Spec{Name: "polynomial", Gamma: 1, Coef0: 1}, 216},                      // 6^3, degree 3 by default
		{kernel.Spec{Name: "polynomial", Gamma: 0.4, Degree: 2}, 4},                     // 2^2, coef0 0 by default
		{kernel.Spec{Name: "rational-quadratic"}, 2.0 / 7},                              // 1 / (1 + 5/2)
		{kernel.Spec{Name: "rational-quadratic", Alpha: 2, LengthScale: 0.5}, 1.0 / 36}, // (1 + 5/1)^-2
		{kernel.Spec{Name: "rbf", Gamma: 0.2, Amplitude: 3}, 1.103638323514327},         // 3/e
		{kernel.Spec{Name: "rational-quadratic", Amplitude: 7}, 2},
		{kernel.Spec{Name: "laplacian", Gamma: 1 / math.Sqrt(5)}, 0.36787944117144233},
		{kernel.Spec{Name: "matern", Nu: 0.5, LengthScale: math.Sqrt(5)}, 0.36787944117144233},
		{kernel.Spec{Name: "matern", LengthScale: math.Sqrt(15)}, 2 * 0.36787944117144233},        // nu 1.5 by default, r = 1
		{kernel.Spec{Name: "matern", Nu: 2.5, LengthScale: 5}, (2 + 1.0/3) * 0.36787944117144233}, // r = 1
		{kernel.Spec{Name: "cosine"}, 0.70710678118654757},                                        // 5 / sqrt(50)
		{kernel.Spec{Name: "tanimoto"}, 0.5},                                                      // 5 / 10
	} {
		if got := mustNew(t, c.spec).At(5, 5, 10); math.Abs(got-c.want) > 1e-15*math.Max(1, c.want) {
			t.Errorf("%v: %.17g, want %.17g", c.spec, got, c.want)
		}
	}
}

func TestMapIsAtForEach(t *testing.T) {
	xz, zz := []float64{0, 1, 2, 5, -3}, []float64{0, 4, 4, 5, 9}
	for _, k := range all(t) {
		dst := make([]float64, 5)
		k.Map(dst, xz, 5, zz)
		alias := append([]float64(nil), xz...)
		k.Map(alias, alias, 5, zz)
		for j := range xz {
			if want := k.At(xz[j], 5, zz[j]); dst[j] != want || alias[j] != want {
				t.Errorf("%s: Map gives %g (in place %g), At %g", k.Name(), dst[j], alias[j], want)
			}
		}
	}
}

func TestZeroRows(t *testing.T) {
	for name, want := range map[string]float64{"cosine": 0, "tanimoto": 1} {
		if got := mustNew(t, kernel.Spec{Name: name}).At(0, 0, 0); got != want {
			t.Errorf("%s of two zero rows is %g, want %g", name, got, want)
		}
		if got := mustNew(t, kernel.Spec{Name: name}).At(0, 0, 4); got != 0 {
			t.Errorf("%s of a zero row with another is %g, want 0", name, got)
		}
	}
}

// Rounding may push x.x + z.z - 2 x.z below zero: no NaN, nothing above 1,
// or above the amplitude.
func TestNearDuplicates(t *testing.T) {
	xx := 1e6
	for _, slip := range []float64{0, 1e-10, 1e-9} {
		for _, s := range specs() {
			k, one := mustNew(t, s), 1.0
			if s.Amplitude != 0 {
				one = s.Amplitude
			}
			v := k.At(xx+slip, xx, xx)
			if bounded := !slices.Contains([]string{"linear", "polynomial", "tanimoto", "dot-product"}, k.Name()); math.IsNaN(v) || bounded && v != one {
				t.Errorf("%s: %g with x.z too large by %g", k.Name(), v, slip)
			}
		}
	}
}

// A row that is also among the new rows has distance exactly 0 to itself, so
// that stationary kernels are exactly 1, whichever path computed the norms.
func TestEqualRowsAreAtDistanceZero(t *testing.T) {
	x := noise(70, 301, 2)
	cross := kernel.CrossGram(x.Panel(10, 30), x)
	kernel.Cross(rbf(t), cross, kernel.SquaredNorms(x.Panel(10, 30)), kernel.SquaredNorms(x))
	for i := range 20 {
		if got := cross.Row(i)[i+10]; got != 1 {
			t.Errorf("row %d with itself: %.17g", i, got)
		}
	}
}

func TestGramsAreSymmetricAndPositiveSemidefinite(t *testing.T) {
	for seed := range uint64(3) {
		dot := kernel.LinearGram(noise(40, 5+20*int(seed), seed))
		for i, k := range all(t) {
			gram := kernel.Materialize(kernel.Of(dot, k)).K
			if low, high := spectrum(t, gram); low < -1e-9*math.Max(1, high) {
				t.Errorf("%v: smallest eigenvalue %g, largest %g", specs()[i], low, high)
			}
		}
	}
}

// spectrum returns the extreme eigenvalues, after checking symmetry.
func spectrum(t *testing.T, k linalg.Matrix[float64]) (low, high float64) {
	t.Helper()
	sym := mat.NewSymDense(k.Rows, nil)
	for i := range k.Rows {
		for j := range k.Rows {
			if k.Row(i)[j] != k.Row(j)[i] {
				t.Fatalf("(%d, %d) is %g, (%d, %d) is %g", i, j, k.Row(i)[j], j, i, k.Row(j)[i])
			}
			sym.SetSym(i, j, k.Row(i)[j])
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(sym, false) {
		t.Fatal("no eigenvalues")
	}
	values := eigen.Values(nil)
	return values[0], values[len(values)-1]
}

// Kernels see the Gram matrix only: a rotation of the rows changes nothing.
func TestProperties(t *testing.T) {
	coordinate := rapid.Float64Range(-100, 100).Filter(func(v float64) bool {
		return v == 0 || math.Abs(v) > 1e-140 // squares of smaller ones underflow, and with them the bound
	})
	rapid.Check(t, func(r *rapid.T) {
		x := rapid.SliceOfN(coordinate, 3, 3).Draw(r, "x")
		z := rapid.SliceOfN(coordinate, 3, 3).Draw(r, "z")
		xz := x[0]*z[0] + x[1]*z[1] + x[2]*z[2]
		xx := x[0]*x[0] + x[1]*x[1] + x[2]*x[2]
		zz := z[0]*z[0] + z[1]*z[1] + z[2]*z[2]
		for i, k := range all(t) {
			v := k.At(xz, xx, zz)
			what := fmt.Sprint(specs()[i])
			if back := k.At(xz, zz, xx); back != v {
				r.Fatalf("%s: k(x, z) = %g, k(z, x) = %g", what, v, back)
			}
			bound := math.Sqrt(k.At(xx, xx, xx)) * math.Sqrt(k.At(zz, zz, zz))
			if !(math.Abs(v) <= bound*(1+1e-9)) {
				r.Fatalf("%s: %g breaks Cauchy-Schwarz, bound %g", what, v, bound)
			}
		}
	})
}
