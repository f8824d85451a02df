package linalg_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// ulps is the distance of a number to the exact one in units in the last place
// of T.
func ulps[T linalg.Float](got T, want float64) float64 {
	off, nearest := math.Abs(float64(got)-want), T(want)
	if got == nearest || math.IsNaN(float64(got)) && math.IsNaN(want) {
		return 0
	}
	if math.IsInf(float64(got), 0) || math.IsInf(float64(nearest), 0) {
		return math.Inf(1)
	}
	return off / unit(nearest)
}

// unit is the distance from v to the next number away from 0.
func unit[T linalg.Float](v T) float64 {
	if wide, double := any(v).(float64); double {
		return math.Nextafter(math.Abs(wide), math.Inf(1)) - math.Abs(wide)
	}
	size := float32(math.Abs(float64(v)))
	return float64(math.Nextafter32(size, float32(math.Inf(1)))) - float64(size)
}

// exactExp is e^x, correctly rounded: Taylor's series of x / 2^12 in 300 bits,
// squared twelve times.
func exactExp(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.Abs(x) > 1000 {
		return math.Exp(x)
	}
	small := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	r := small(math.Ldexp(x, -12))
	sum, term := small(1), small(1)
	for n := 1; n < 40; n++ {
		term.Quo(term.Mul(term, r), small(float64(n)))
		sum.Add(sum, term)
	}
	for range 12 {
		sum.Mul(sum, sum)
	}
	y, _ := sum.Float64()
	return y
}

func TestExpIsNearTheExactOne(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	src := rand.New(rand.NewPCG(1, 1))
	x := []float64{
		0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 709.782712893384, 709.7827128933841, 710, 1e300,
		-708.4, -720, -744, -745.13, -745.14, -746, -1e300, 5e-324, 1e-20, math.Ln2 / 2, -math.Ln2 / 2,
	}
	for len(x) < 3001 {
		x = append(x, 1500*src.Float64()-750, 2*src.Float64()-1, -30*src.Float64())
	}
	narrow := []float32{88.72283, 88.72284, 89, -87.3, -87.4, -100, -103.2, -103.9, -103.98, -105}
	for _, v := range x {
		narrow = append(narrow, float32(v), float32(v)/7)
	}
	want, wantNarrow := exactExps(x), exactExps(narrow)
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		expIsNear(t, p, x, want)
		expIsNear(t, p, narrow, wantNarrow)
	})
}

func exactExps[T linalg.Float](x []T) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = exactExp(float64(v))
	}
	return y
}

func expIsNear[T linalg.Float](t *testing.T, p linalg.Path, x []T, want []float64) {
	t.Helper()
	got, worst := make([]T, len(x)), 0.0
	linalg.ExpOn(p, got, x)
	for i, v := range x {
		if p == linalg.Portable && v > 709 && math.IsInf(float64(got[i]), 1) {
			continue // math.Exp gives up a little early
		}
		off := ulps(got[i], want[i])
		if worst = max(worst, off); !(off <= 2) {
			t.Fatalf("%T: e^%v is %v, off by %g units in the last place of %v", v, v, got[i], off, want[i])
		}
	}
	t.Logf("%T: at most %g units in the last place", x[0], worst)
}

func TestExpDoesNotDependOnPlace(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		doesNotDependOnPlace(t, func(dst, x []float64) { linalg.ExpOn(p, dst, x) })
		doesNotDependOnPlace(t, func(dst, x []float32) { linalg.ExpOn(p, dst, x) })
	})
}

// doesNotDependOnPlace maps all short parts of a vector.
func doesNotDependOnPlace[T linalg.Float](t *testing.T, f func(dst, x []T)) {
	t.Helper()
	x := noise[T](1, 70, 3).Data[:70]
	all := make([]T, len(x))
	f(all, x)
	for lo := range x {
		for hi := lo; hi <= min(len(x), lo+35); hi++ {
			got := make([]T, hi-lo+1)
			got[hi-lo] = -7
			f(got[:hi-lo], x[lo:hi])
			for i, v := range got[:hi-lo] {
				if v != all[lo+i] {
					t.Fatalf("%T: entry %d of %d to %d is %v, want %v", v, i, lo, hi, v, all[lo+i])
				}
			}
			if got[hi-lo] != -7 {
				t.Fatalf("%T: %d to %d: wrote past the end", x[0], lo, hi)
			}
		}
	}
}

func BenchmarkExp(b *testing.B) {
	for _, p := range linalg.Paths() {
		perValue(b, fmt.Sprint(p, "/float64"), func(dst, x []float64) { linalg.ExpOn(p, dst, x) })
		perValue(b, fmt.Sprint(p, "/float32"), func(dst, x []float32) { linalg.ExpOn(p, dst, x) })
	}
}

// perValue measures a function of values that stay in the cache.
func perValue[T linalg.Float](b *testing.B, name string, f func(dst, x []T)) {
	x := noise[T](1, 4096, 1).Data[:4096]
	dst := make([]T, len(x))
	b.Run(name, func(b *testing.B) {
		for b.Loop() {
			f(dst, x)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/value")
	})
}
