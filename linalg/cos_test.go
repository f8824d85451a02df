package linalg_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/linalg"
)

// wide is a number of that many bits.
func wide(v float64, bits uint) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }

// arctan returns the arc tangent of 1/n.
func arctan(n float64, bits uint) *big.Float {
	power := wide(1, bits)
	power.Quo(power, wide(n, bits))
	sum := wide(0, bits)
	for k, sign := 1., 1.; power.MantExp(nil) > -int(bits); k, sign = k+2, -sign {
		term := wide(sign*k, bits)
		sum.Add(sum, term.Quo(power, term))
		power.Quo(power, wide(n*n, bits))
	}
	return sum
}

// turn returns 2 pi, by Machin's formula.
func turn(bits uint) *big.Float {
	a, b := arctan(5, bits), arctan(239, bits)
	a.Mul(a, wide(32, bits))
	return a.Sub(a, b.Mul(b, wide(8, bits)))
}

// exactCos is the cosine, correctly rounded: Taylor's series of x less whole
// turns.
func exactCos(x float64, turn *big.Float) float64 {
	if x-x != 0 {
		return math.NaN()
	}
	bits := turn.Prec()
	r := wide(x, bits)
	turns, _ := new(big.Float).Quo(r, turn).Int(nil)
	r.Sub(r, new(big.Float).SetPrec(bits).Mul(turn, new(big.Float).SetPrec(bits).SetInt(turns)))
	r.Mul(r, r)
	sum, term := wide(1, bits), wide(1, bits)
	for k := 1.; term.Sign() != 0 && term.MantExp(nil) > -300; k += 2 {
		term.Mul(term, r)
		term.Quo(term, wide(-k*(k+1), bits))
		sum.Add(sum, term)
	}
	y, _ := sum.Float64()
	return y
}

// cosines holds arguments of all sizes, and those next to zeros of the cosine:
// 6381956970095103 2^797 is nearer to one than any other float64 (Muller,
// Elementary Functions, 2006, section 11.3).
func cosines() []float64 {
	src := rand.New(rand.NewPCG(2, 1))
	x := []float64{
		0, math.Copysign(0, -1), 1, math.NaN(), math.Inf(1), math.Inf(-1), 5e-324, 1e-8, math.Pi / 2, math.Pi, 1 << 16, 1<<16 + 1,
		1 << 40, 1<<40 + 1, 1e9, 1.1e12, 1e22, math.MaxFloat64, math.Ldexp(6381956970095103, 797), math.Ldexp(6381956970095103, -52),
	}
	for len(x) < 1500 {
		zero := math.Floor(math.Exp(26*src.Float64())) + 0.5
		x = append(x, 20*src.Float64()-10, math.Exp(30*src.Float64()-10), zero*math.Pi, -math.Nextafter(zero*math.Pi, 0))
	}
	return x
}

func TestCosIsNearTheExactOne(t *testing.T) {
	x, circle, large := cosines(), turn(320), turn(1400)
	exact := func(v float64) float64 {
		if math.Abs(v) > 1e13 {
			return exactCos(v, large)
		}
		return exactCos(v, circle)
	}
	narrow, want, wantNarrow := make([]float32, len(x)), make([]float64, len(x)), make([]float64, len(x))
	for i, v := range x {
		narrow[i] = float32(v)
		want[i], wantNarrow[i] = exact(v), exact(float64(narrow[i]))
	}
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		cosIsNear(t, p, x, want)
		cosIsNear(t, p, narrow, wantNarrow)
	})
}

// cosIsNear asks for 2 units in the last place, and of math.Cos for no more
// than 2^-53 where these are smaller.
func cosIsNear[T linalg.Float](t *testing.T, p linalg.Path, x []T, want []float64) {
	t.Helper()
	got, worst := make([]T, len(x)), 0.0
	linalg.CosOn(p, got, x)
	for i, w := range want {
		off, byGo := ulps(got[i], w), p == linalg.Portable || math.Abs(float64(x[i])) > 1<<40
		if byGo && math.Abs(float64(got[i])-w) <= 0x1p-53 {
			continue
		}
		if worst = max(worst, off); !(off <= 2) {
			t.Errorf("%T: cos(%v) is %v, off by %g units in the last place of %v", got[i], x[i], got[i], off, w)
		}
	}
	t.Logf("%T: at most %g units in the last place", got[0], worst)
}

func TestCosDoesNotDependOnPlace(t *testing.T) {
	onEachPath(t, func(t *testing.T, p linalg.Path) {
		for _, scale := range []float64{1, 1e4, 1e12} { // all within the limit, some, few
			doesNotDependOnPlace(t, func(dst, x []float64) {
				scaled(dst, x, scale)
				linalg.CosOn(p, dst, dst)
			})
			doesNotDependOnPlace(t, func(dst, x []float32) {
				scaled(dst, x, scale)
				linalg.CosOn(p, dst, dst)
			})
		}
	})
}

func scaled[T linalg.Float](dst, x []T, by float64) {
	for i, v := range x {
		dst[i] = v * T(by)
	}
}

func TestCosRefusesOtherLengths(t *testing.T) {
	if recovered(func() { linalg.Cos(make([]float64, 3), make([]float64, 4)) }) == nil {
		t.Error("no panic")
	}
}

func BenchmarkCos(b *testing.B) {
	for _, p := range linalg.Paths() {
		perValue(b, fmt.Sprint(p, "/float64"), func(dst, x []float64) { linalg.CosOn(p, dst, x) })
		perValue(b, fmt.Sprint(p, "/float32"), func(dst, x []float32) { linalg.CosOn(p, dst, x) })
	}
}
