package linalg_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// kernelMap is a map with parameters, and the exponent of e that its kernel
// takes: the kernel is a factor times e^exponent.
type kernelMap[T linalg.Float] struct {
	name string
	on   func(p linalg.Path, dst, xz []T, xx T, zz []T)
	twin func(d float64) (factor, exponent float64)
}

func kernelMaps[T linalg.Float]() []kernelMap[T] {
	return []kernelMap[T]{
		{"rbf",
			func(p linalg.Path, dst, xz []T, xx T, zz []T) { linalg.RBFOn(p, dst, xz, xx, zz, 0.75) },
			func(d float64) (float64, float64) { return 1, -0.75 * d }},
		{"laplacian",
			func(p linalg.Path, dst, xz []T, xx T, zz []T) { linalg.LaplacianOn(p, dst, xz, xx, zz, 1.5) },
			func(d float64) (float64, float64) { return 1, -1.5 * math.Sqrt(d) }},
		{"matern32",
			func(p linalg.Path, dst, xz []T, xx T, zz []T) { linalg.Matern32On(p, dst, xz, xx, zz, 0.5) },
			func(d float64) (float64, float64) { r := math.Sqrt(12 * d); return 1 + r, -r }},
		{"matern52",
			func(p linalg.Path, dst, xz []T, xx T, zz []T) { linalg.Matern52On(p, dst, xz, xx, zz, 0.5) },
			func(d float64) (float64, float64) { r := math.Sqrt(20 * d); return 1 + r + r*r/3, -r }},
		{"rational",
			func(p linalg.Path, dst, xz []T, xx T, zz []T) {
				linalg.RationalQuadraticOn(p, dst, xz, xx, zz, 0.5, 1.25)
			},
			func(d float64) (float64, float64) { return 1, -1.25 * math.Log1p(1.6*d) }},
		{"rational, near a Gaussian",
			func(p linalg.Path, dst, xz []T, xx T, zz []T) {
				linalg.RationalQuadraticOn(p, dst, xz, xx, zz, 1, 1<<20)
			},
			func(d float64) (float64, float64) { return 1, -(1 << 20) * math.Log1p(d/(1<<21)) }},
	}
}

// distances is inner products and squared norms for xx = 0 that make squared
// distances of all sizes, the same as xx + zz - 2 xz rounded to T.
func distances[T linalg.Float]() (xz, zz []T) {
	for e := -1074; e < 1024; e += 3 {
		zz = append(zz, T(math.Ldexp(1.375, e)), T(math.Ldexp(1.9, e/40)))
	}
	nan, inf := T(math.NaN()), T(math.Inf(1))
	zz = append(zz, 0, nan, 0, inf, -3, 5, T(math.MaxFloat32), T(math.SmallestNonzeroFloat32), inf)
	xz = make([]T, len(zz))
	for i := range xz {
		if i%3 == 0 {
			xz[i] = zz[i] / 4
		}
	}
	xz[len(xz)-7] = nan
	xz[len(xz)-1] = inf
	return xz, zz
}

func TestMapsAreNearTheFormulas(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for _, k := range kernelMaps[float64]() {
			isNearFormula(t, p, k, 0x1p-52)
		}
		for _, k := range kernelMaps[float32]() {
			isNearFormula(t, p, k, 0x1p-23)
		}
	})
}

// isNearFormula allows a few roundings, and what they make of the exponent.
func isNearFormula[T linalg.Float](t *testing.T, p linalg.Path, k kernelMap[T], epsilon float64) {
	t.Helper()
	xz, zz := distances[T]()
	got, worst := make([]T, len(xz)), 0.0
	k.on(p, got, xz, 0, zz)
	for i, v := range got {
		d := max(0, zz[i]-2*xz[i])
		factor, exponent := k.twin(float64(d))
		want, allowed := factor*math.Exp(exponent), (4-2*exponent)*epsilon
		if math.IsInf(float64(d), 1) || exponent < -800 {
			factor, want, allowed = 1, 0, 0 // not infinity times 0
		}
		if off := math.Abs(float64(v)-want) / max(want, factor*float64(smallestNormal[T]())); off > allowed || (v != v) != (d != d) {
			t.Errorf("%s, %T: d = %v gives %v, want %v, off by %.3g, %.3g allowed", k.name, v, d, v, want, off, allowed)
		} else if off > 0 {
			worst = max(worst, off/allowed)
		}
		if d == 0 && v != 1 {
			t.Errorf("%s, %T: %v for equal rows, want 1", k.name, v, v)
		}
	}
	t.Logf("%s, %T: at most %.2f of what is allowed", k.name, xz[0], worst)
}

// smallestNormal is the smallest number of full precision.
func smallestNormal[T linalg.Float]() T {
	if single := math.Float32frombits(1 << 23); any(T(0)) == any(float32(0)) {
		return T(single)
	}
	return T(math.Float64frombits(1 << 52))
}

func TestMapsDoNotDependOnPlace(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		mapsDoNotDependOnPlace[float64](t, p)
		mapsDoNotDependOnPlace[float32](t, p)
	})
}

func mapsDoNotDependOnPlace[T linalg.Float](t *testing.T, p linalg.Path) {
	t.Helper()
	for _, k := range kernelMaps[T]() {
		doesNotDependOnPlace(t, func(dst, x []T) { k.on(p, dst, x, 2, x) })
		doesNotDependOnPlace(t, func(dst, x []T) {
			copy(dst, x)
			k.on(p, dst, dst, 2, x)
		})
	}
	doesNotDependOnPlace(t, func(dst, x []T) { linalg.PolynomialOn(p, dst, x, 0.5, 1, 5) })
}

func TestRBFIsExpOfDistances(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		rbfIsExpOfDistances[float64](t, p)
		rbfIsExpOfDistances[float32](t, p)
	})
}

func rbfIsExpOfDistances[T linalg.Float](t *testing.T, p linalg.Path) {
	t.Helper()
	nan, inf := T(math.NaN()), T(math.Inf(1))
	for n := range 40 {
		xz, zz := noise[T](1, n, 1).Data[:n], noise[T](1, n, 2).Data[:n]
		if n > 8 { // the same row; a distance that rounding made negative; what is not finite
			xz[0], zz[0] = 3, 3
			xz[1], zz[1] = 3.1, 3
			xz[2], zz[3], xz[n-1] = nan, inf, nan
		}
		got, want := make([]T, n), make([]T, n)
		for i := range want {
			want[i] = -0.7 * max(0, 3+zz[i]-2*xz[i])
		}
		linalg.ExpOn(p, want, want)
		linalg.RBFOn(p, got, xz, 3, zz, 0.7)
		for i, w := range want {
			if got[i] != w && !(got[i] != got[i] && w != w) {
				t.Fatalf("%d values: entry %d is %v, want %v", n, i, got[i], w)
			}
		}
		if n > 8 && (got[0] != 1 || got[1] != 1) {
			t.Errorf("the same row: %v and %v, want 1", got[0], got[1])
		}
	}
}

// Repeated squaring rounds alike on all paths.
func TestPolynomialOnEachPath(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		polynomialAsPortable[float64](t, p)
		polynomialAsPortable[float32](t, p)
	})
	x := []float64{-2, 0.5, math.NaN(), math.Inf(-1)}
	linalg.Polynomial(x, x, 2, 1, 3)
	if want := []float64{-27, 8, math.NaN(), math.Inf(-1)}; !slices.EqualFunc(x, want, alike[float64]) {
		t.Errorf("(2x + 1)^3 gives %v, want %v", x, want)
	}
}

func polynomialAsPortable[T linalg.Float](t *testing.T, p linalg.Path) {
	t.Helper()
	for n := range 40 {
		x, _ := distances[T]()
		x = append(x, noise[T](1, n, 5).Data[:n]...)
		got, want := make([]T, len(x)), make([]T, len(x))
		for degree := range 65 {
			linalg.PolynomialOn(p, got, x, 0.3, 0.7, degree)
			linalg.PolynomialOn(linalg.Portable, want, x, 0.3, 0.7, degree)
			if !slices.EqualFunc(got, want, alike[T]) {
				t.Fatalf("degree %d of %T differs", degree, x[0])
			}
		}
	}
}

// alike holds for equal numbers and for two NaNs.
func alike[T linalg.Float](a, b T) bool { return a == b || a != a && b != b }

func TestMapsRefuseOtherLengths(t *testing.T) {
	three, four := make([]float64, 3), make([]float64, 4)
	for name, f := range map[string]func(){
		"products":          func() { linalg.RBF(three, four, 1, three, 1) },
		"norms":             func() { linalg.Laplacian(three, three, 1, four, 1) },
		"polynomial":        func() { linalg.Polynomial(three, four, 1, 1, 1) },
		"a negative degree": func() { linalg.Polynomial(three, three, 1, 1, -1) },
	} {
		if recovered(f) == nil {
			t.Errorf("%s: no panic", name)
		}
	}
}

func BenchmarkMap(b *testing.B) {
	for _, p := range linalg.Paths() {
		for _, k := range kernelMaps[float64]()[:5] {
			perValue(b, fmt.Sprint(p, "/", k.name, "/float64"), func(dst, x []float64) { k.on(p, dst, x, 1, x) })
		}
		for _, k := range kernelMaps[float32]()[:5] {
			perValue(b, fmt.Sprint(p, "/", k.name, "/float32"), func(dst, x []float32) { k.on(p, dst, x, 1, x) })
		}
		perValue(b, fmt.Sprint(p, "/polynomial/float64"), func(dst, x []float64) { linalg.PolynomialOn(p, dst, x, 0.1, 1, 3) })
		perValue(b, fmt.Sprint(p, "/polynomial/float32"), func(dst, x []float32) { linalg.PolynomialOn(p, dst, x, 0.1, 1, 3) })
	}
}
