package linalg_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// ulps is the distance of two numbers in units in the last place of want.
func ulps(got, want float64) float64 {
	if got == want || math.IsNaN(got) && math.IsNaN(want) {
		return 0
	}
	if math.IsInf(got, 0) || math.IsInf(want, 0) {
		return math.Inf(1)
	}
	return math.Abs(got-want) / (math.Nextafter(math.Abs(want), math.Inf(1)) - math.Abs(want))
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
	src := rand.New(rand.NewPCG(1, 1))
	x := []float64{
		0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 709.782712893384, 709.7827128933841, 710, 1e300,
		-708.4, -720, -744, -745.13, -745.14, -746, -1e300, 5e-324, 1e-20, math.Ln2 / 2, -math.Ln2 / 2,
	}
	for len(x) < 3001 {
		x = append(x, 1500*src.Float64()-750, 2*src.Float64()-1, -30*src.Float64())
	}
	want := make([]float64, len(x))
	for i, v := range x {
		want[i] = exactExp(v)
	}
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		got, worst := make([]float64, len(x)), 0.0
		linalg.ExpOn(p, got, x)
		for i, v := range x {
			if p == linalg.Portable && v > 709 && math.IsInf(got[i], 1) {
				continue // math.Exp gives up a little early
			}
			off := ulps(got[i], want[i])
			if worst = max(worst, off); !(off <= 2) {
				t.Fatalf("e^%v is %v, off by %g units in the last place of %v", v, got[i], off, want[i])
			}
		}
		t.Logf("at most %g units in the last place", worst)
	})
}

func TestExpDoesNotDependOnPlace(t *testing.T) {
	x := noise[float64](1, 70, 3).Data[:70]
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		all := make([]float64, len(x))
		linalg.ExpOn(p, all, x)
		for lo := range x {
			for hi := lo; hi <= min(len(x), lo+19); hi++ {
				got := make([]float64, hi-lo+1)
				got[hi-lo] = -1
				linalg.ExpOn(p, got[:hi-lo], x[lo:hi])
				for i, v := range got[:hi-lo] {
					if v != all[lo+i] {
						t.Fatalf("entry %d of %d to %d is %v, want %v", i, lo, hi, v, all[lo+i])
					}
				}
				if got[hi-lo] != -1 {
					t.Fatalf("%d to %d: wrote past the end", lo, hi)
				}
			}
		}
	})
}

func TestRBFIsExpOfDistances(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for n := range 40 {
			xz, zz := noise[float64](1, n, 1).Data[:n], noise[float64](1, n, 2).Data[:n]
			if n > 8 { // the same row; a distance that rounding made negative; what is not finite
				xz[0], zz[0] = 3, 3
				xz[1], zz[1] = 3.1, 3
				xz[2], zz[3], xz[n-1] = math.NaN(), math.Inf(1), math.NaN()
			}
			got, want := make([]float64, n), make([]float64, n)
			for i := range want {
				want[i] = -0.7 * max(0, 3+zz[i]-2*xz[i])
			}
			linalg.ExpOn(p, want, want)
			linalg.RBFOn(p, got, xz, 3, zz, 0.7)
			for i, w := range want {
				if got[i] != w && !(math.IsNaN(got[i]) && math.IsNaN(w)) {
					t.Fatalf("%d values: entry %d is %v, want %v", n, i, got[i], w)
				}
			}
			if n > 8 && (got[0] != 1 || got[1] != 1) {
				t.Errorf("the same row: %v and %v, want 1", got[0], got[1])
			}
		}
	})
}

func TestExpRefusesOtherLengths(t *testing.T) {
	three, four := make([]float64, 3), make([]float64, 4)
	for name, f := range map[string]func(){
		"exp":      func() { linalg.Exp(three, four) },
		"products": func() { linalg.RBF(three, four, 1, three, 1) },
		"norms":    func() { linalg.RBF(three, three, 1, four, 1) },
	} {
		if recovered(f) == nil {
			t.Errorf("%s: no panic", name)
		}
	}
}

func BenchmarkExp(b *testing.B) {
	x := noise[float64](1, 4096, 1).Data[:4096]
	dst := make([]float64, len(x))
	for _, p := range linalg.Paths() {
		b.Run(p.String(), func(b *testing.B) {
			for b.Loop() {
				linalg.ExpOn(p, dst, x)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/value")
		})
		b.Run(p.String()+"/rbf", func(b *testing.B) {
			for b.Loop() {
				linalg.RBFOn(p, dst, x, 1, x, 0.1)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/value")
		})
	}
}
