package linalg_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mercer-fl/mercer/linalg"
)

func TestFWHTEqualsTwin(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for n := 1; n <= 1<<13; n *= 2 { // to above the leaf
		x := slices.Clone(noise[float64](1, n, 1).Row(0))
		x32 := slices.Clone(noise[float32](1, n, 1).Row(0))
		want, want32 := hadamard(x), hadamard(x32)
		linalg.FWHT(x)
		linalg.FWHT(x32)
		for i, w := range want {
			scale := math.Sqrt(float64(n))
			if math.Abs(x[i]-w) > 1e-13*scale || math.Abs(float64(x32[i])-want32[i]) > 1e-5*scale {
				t.Fatalf("n = %d: entry %d is %g (float32 %g), want %g (%g)", n, i, x[i], x32[i], w, want32[i])
			}
		}
	}
}

func TestFWHTOfFour(t *testing.T) {
	x := []float64{1, 2, 3, 5}
	linalg.FWHT(x)
	if want := []float64{11, -3, -5, 1}; !slices.Equal(x, want) {
		t.Errorf("got %v, want %v", x, want)
	}
}

// Twice is the length, exactly on integers, far above the leaf size too.
func TestFWHTTwiceIsTheLength(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := 1 << rapid.IntRange(0, 16).Draw(r, "log2 n")
		values := rapid.SliceOfN(rapid.Int64Range(-1<<20, 1<<20), 1, 16).Draw(r, "values")
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(values[i*i%len(values)])
		}
		want := slices.Clone(x)
		linalg.FWHT(x)
		linalg.FWHT(x)
		for i, w := range want {
			if x[i] != w*float64(n) {
				r.Fatalf("entry %d is %g, want %d times %g", i, x[i], n, w)
			}
		}
	})
}

// A single one becomes a row of signs: large sizes against the definition.
func TestFWHTOfAUnitVector(t *testing.T) {
	for _, n := range []int{1 << 15, 1 << 16, 1 << 17} {
		x := make([]float64, n)
		x[n/3] = 1
		linalg.FWHT(x)
		for _, i := range []int{0, 1, 2, n / 2, n - 1, n / 5} {
			want := 1.0
			for both := i & (n / 3); both > 0; both &= both - 1 {
				want = -want
			}
			if x[i] != want {
				t.Errorf("n = %d: entry %d is %g, want %g", n, i, x[i], want)
			}
		}
	}
}

func TestFWHTRefusesOtherLengths(t *testing.T) {
	for _, n := range []int{0, 3, 6, 1000} {
		if recovered(func() { linalg.FWHT(make([]float32, n)) }) == nil {
			t.Errorf("%d values: no panic", n)
		}
	}
}

// All paths add the same numbers in the same order, level by level.
func TestFWHTOnEachPath(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for n := 1; n <= 1<<14; n *= 2 {
			fwhtByLevels[float64](t, p, n)
			fwhtByLevels[float32](t, p, n)
		}
		fwhtByLevels[float64](t, p, 1<<19) // the parts of its 64 are cut again
	})
}

func fwhtByLevels[T linalg.Float](t *testing.T, p linalg.Path, n int) {
	t.Helper()
	got, want := noise[T](1, n, 9).Data, noise[T](1, n, 9).Data
	got[n/2], want[n/2] = math.SmallestNonzeroFloat32, math.SmallestNonzeroFloat32
	signs := make([]int8, n)
	for i := range signs {
		signs[i] = int8(1 - 2*(i*i/3%2))
	}
	for _, odd := range []T{1, T(math.Inf(1)), T(math.NaN())} {
		got[n/3], want[n/3] = odd, odd
		linalg.FWHTOn(p, got[:n], signs, 0.3)
		for i, s := range signs {
			want[i] *= T(s)
		}
		byLevels(want[:n])
		for i := range signs {
			want[i] *= 0.3
		}
		for i, w := range want { // and nothing behind the vector is touched
			if !alike(got[i], w) {
				t.Fatalf("%T: entry %d of %d is %v, want %v", w, i, n, got[i], w)
			}
		}
	}
}

// byLevels is the textbook transform, the highest level first.
func byLevels[T linalg.Float](x []T) {
	for half := len(x) / 2; half > 0; half /= 2 {
		for i := range x {
			if i&half == 0 {
				x[i], x[i+half] = x[i]+x[i+half], x[i]-x[i+half]
			}
		}
	}
}

func TestTooFewSigns(t *testing.T) {
	for name, f := range map[string]func(){
		"transform": func() { linalg.SignedFWHT(make([]float64, 4), make([]int8, 3), 1) },
		"flip":      func() { linalg.Flip(make([]float64, 4), make([]int8, 3)) },
	} {
		if recovered(f) == nil {
			t.Errorf("%s: no panic", name)
		}
	}
}
