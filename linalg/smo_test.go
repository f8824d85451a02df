package linalg_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mercer-fl/mercer/linalg"
)

// smoProblem holds the values that the passes read, with ties, NaN and infinities.
type smoProblem[T linalg.Float] struct {
	f, diagonal []float64
	x, y        []T
	place       []uint8
}

func smoOf[T linalg.Float](seed uint64, n int, value func(*rand.Rand) float64) smoProblem[T] {
	src := rand.New(rand.NewPCG(seed, uint64(n)))
	p := smoProblem[T]{make([]float64, n), make([]float64, n), make([]T, n), make([]T, n), make([]uint8, n)}
	for t := range n {
		p.f[t], p.x[t], p.y[t] = value(src), T(value(src)), T(value(src))
		p.diagonal[t], p.place[t] = math.Abs(value(src)), uint8(src.IntN(4))
	}
	return p
}

func smoValues() map[string]func(*rand.Rand) float64 {
	return map[string]func(*rand.Rand) float64{
		"continuous": (*rand.Rand).NormFloat64,
		"ties":       func(r *rand.Rand) float64 { return float64(r.IntN(5) - 2) },
		"odd": func(r *rand.Rand) float64 {
			odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e300, -1e300, 1e-9}
			return append(odd, r.NormFloat64(), 1)[r.IntN(10)]
		},
		"nothing": func(*rand.Rand) float64 { return math.NaN() },
	}
}

func onSMO(t *testing.T, f func(t *testing.T, p linalg.Path, n int, seed uint64, value func(*rand.Rand) float64)) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for name, value := range smoValues() {
			for _, n := range []int{0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 100, 128, 1000, 32768, 70001} {
				t.Run(fmt.Sprint(name, n), func(t *testing.T) {
					for seed := range uint64(1 + 300/(n+1)) {
						f(t, p, n, seed, value)
					}
				})
			}
		}
	})
}

func TestSMOMove(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	onSMO(t, func(t *testing.T, p linalg.Path, n int, seed uint64, value func(*rand.Rand) float64) {
		checkMove(t, p, smoOf[float64](seed, n, value))
		checkMove(t, p, smoOf[float32](seed, n, value))
	})
}

func checkMove[T linalg.Float](t *testing.T, p linalg.Path, s smoProblem[T]) {
	t.Helper()
	const a, b = 0.75, -1.3
	want := append([]float64(nil), s.f...)
	e := linalg.Extremes{First: -1, Low: math.Inf(1), High: math.Inf(-1)}
	for i := range want {
		step := float64(a*float64(s.x[i])) + float64(b*float64(s.y[i]))
		want[i] += step
		if s.place[i]&linalg.Grow != 0 && want[i] <= e.Low {
			e.First, e.Low = i, want[i]
		}
		if s.place[i]&linalg.Shrink != 0 && want[i] > e.High {
			e.High = want[i]
		}
	}
	got := append([]float64(nil), s.f...)
	found := linalg.SMOMoveOn(p, got, a, s.x, b, s.y, s.place)
	if found != e {
		t.Fatalf("found %+v, want %+v", found, e)
	}
	for i, w := range want {
		if got[i] != w && !(math.IsNaN(got[i]) && math.IsNaN(w)) {
			t.Fatalf("entry %d is %v, want %v", i, got[i], w)
		}
	}
	if again := linalg.SMOScan(got, s.place); again != e {
		t.Fatalf("a scan finds %+v, want %+v", again, e)
	}
}

func TestSMOPartner(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	onSMO(t, func(t *testing.T, p linalg.Path, n int, seed uint64, value func(*rand.Rand) float64) {
		checkPartner(t, p, smoOf[float64](seed, n, value))
		checkPartner(t, p, smoOf[float32](seed, n, value))
	})
}

func checkPartner[T linalg.Float](t *testing.T, p linalg.Path, s smoProblem[T]) {
	t.Helper()
	const fi, kii, tau = -0.5, 1, 1e-12
	want := linalg.Partner{Index: -1, Decrease: math.Inf(-1)}
	for i, f := range s.f {
		a := kii + s.diagonal[i] - 2*float64(s.x[i])
		if !(a > 0) {
			a = tau
		}
		if d := f - fi; s.place[i]&linalg.Shrink != 0 && f > fi && d*d/a >= want.Decrease {
			want = linalg.Partner{Index: i, Decrease: d * d / a}
		}
	}
	if got := linalg.SMOPartnerOn(p, s.f, s.diagonal, s.x, s.place, fi, kii, tau); got != want {
		t.Fatalf("partner %+v, want %+v", got, want)
	}
}

func TestSMORefusesOtherLengths(t *testing.T) {
	three, four, place := make([]float64, 3), make([]float64, 4), make([]uint8, 3)
	for name, f := range map[string]func(){
		"first row":  func() { linalg.SMOMove(three, 1, four, 1, three, place) },
		"second row": func() { linalg.SMOMove(three, 1, three, 1, four, place) },
		"places":     func() { linalg.SMOMove(four, 1, four, 1, four, place) },
		"row":        func() { linalg.SMOPartner(three, three, four, place, 0, 1, 1) },
		"diagonal":   func() { linalg.SMOPartner(three, four, three, place, 0, 1, 1) },
	} {
		if recovered(f) == nil {
			t.Errorf("%s: no panic", name)
		}
	}
	if d := cmp.Diff(linalg.Extremes{First: -1, Low: math.Inf(1), High: math.Inf(-1)}, linalg.SMOScan(nil, nil)); d != "" {
		t.Error(d)
	}
}

func BenchmarkSMO(b *testing.B) {
	for _, n := range []int{2000, 20_000, 200_000} {
		s := smoOf[float32](1, n, (*rand.Rand).NormFloat64)
		for _, p := range linalg.Paths() {
			b.Run(fmt.Sprintf("move/%d/%v", n, p), func(b *testing.B) {
				for b.Loop() {
					linalg.SMOMoveOn(p, s.f, 1e-9, s.x, -1e-9, s.y, s.place)
				}
				b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds()/1e9, "Gvalues/s")
			})
			b.Run(fmt.Sprintf("partner/%d/%v", n, p), func(b *testing.B) {
				for b.Loop() {
					linalg.SMOPartnerOn(p, s.f, s.diagonal, s.x, s.place, -9, 1, 1e-12)
				}
				b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds()/1e9, "Gvalues/s")
			})
		}
	}
}
