package ring128

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// modulus is 2^128.
var modulus = new(big.Int).Lsh(big.NewInt(1), 128)

// signed returns v modulo 2^128 from -2^127 on.
func signed(v *big.Int) *big.Int {
	v = new(big.Int).Mod(v, modulus)
	if v.Bit(127) == 1 {
		v.Sub(v, modulus)
	}
	return v
}

// edges are words at which carries, signs and shifts turn.
var edges = []Word{
	{}, {0, 1}, {0, 2}, {0, 3}, {0, math.MaxUint64}, {1, 0}, {1, 1}, {math.MaxUint64, math.MaxUint64}, {math.MaxUint64, 0},
	{1 << 63, 0}, {1 << 63, 1}, {1<<63 - 1, math.MaxUint64}, {0, 1 << 63}, {0, 1<<53 + 1}, {1 << 10, 1}, {math.MaxUint64, math.MaxUint64 - 1},
	{1 << 36, 1 << 47}, {1 << 36, 1<<47 | 1}, // half way between two float64, and beyond
}

// some returns the edges and random words of every length.
func some(r *rand.Rand) []Word {
	words := append([]Word(nil), edges...)
	for n := range uint(127) {
		w := Word{r.Uint64(), r.Uint64()}.Rsh(n)
		words = append(words, w, w.Neg())
	}
	return words
}

// Every operation is that of big integers modulo 2^128.
func TestWordsAreIntegersModulo2To128(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	words := some(r)
	for _, a := range words {
		x := a.Big()
		if back, err := FromBig(x); err != nil || back != a || x.Cmp(signed(x)) != 0 {
			t.Fatalf("%v is %v, and back %v, %v", a, x, back, err)
		}
		if got := a.Neg().Big(); got.Cmp(signed(new(big.Int).Neg(x))) != 0 {
			t.Errorf("-%v is %v", x, got)
		}
		if a.Negative() != (x.Sign() < 0) {
			t.Errorf("%v is negative: %v", x, a.Negative())
		}
		if v, is := a.Int64(); is != x.IsInt64() || is && v != x.Int64() {
			t.Errorf("%v is the int64 %d, %v", x, v, is)
		}
		for n := range uint(128) {
			if got := a.Lsh(n).Big(); got.Cmp(signed(new(big.Int).Lsh(x, n))) != 0 {
				t.Fatalf("%v << %d is %v", x, n, got)
			}
			if got := a.Rsh(n).Big(); got.Cmp(new(big.Int).Rsh(x, n)) != 0 {
				t.Fatalf("%v >> %d is %v", x, n, got)
			}
		}
		for _, b := range words {
			y := b.Big()
			for name, pair := range map[string][2]*big.Int{
				"+": {a.Add(b).Big(), new(big.Int).Add(x, y)},
				"-": {a.Sub(b).Big(), new(big.Int).Sub(x, y)},
				"*": {a.Mul(b).Big(), new(big.Int).Mul(x, y)},
			} {
				if pair[0].Cmp(signed(pair[1])) != 0 {
					t.Fatalf("%v %s %v is %v", x, name, y, pair[0])
				}
			}
		}
	}
}

func TestFromBigRefusesWhatNoWordHolds(t *testing.T) {
	top := new(big.Int).Lsh(big.NewInt(1), 127)
	for _, v := range []*big.Int{top, new(big.Int).Sub(new(big.Int).Neg(top), big.NewInt(1)), modulus, new(big.Int).Neg(modulus)} {
		if w, err := FromBig(v); err == nil {
			t.Errorf("%v becomes %v", v, w)
		}
	}
	for _, v := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64} {
		if got, is := FromInt64(v).Int64(); got != v || !is || FromInt64(v).Big().Int64() != v {
			t.Errorf("%d becomes %d, %v", v, got, is)
		}
	}
}

// Floats become the nearest words, and words the nearest floats, both by big floats.
func TestFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	values := []float64{0, .5, -.5, 1.5, 2.5, -2.5, 1, -1, math.Pi, 1e-30, -1e-300, math.SmallestNonzeroFloat64, 0x1p92, -0x1.fffffffffffffp92, 1<<53 + 2}
	for range 500 {
		values = append(values, r.NormFloat64()*math.Exp2(80*r.Float64()-40))
	}
	for _, x := range values {
		for _, fraction := range []uint{0, 1, 26, 34} {
			w, err := FromFloat(x, fraction)
			exact := new(big.Float).SetPrec(300).SetFloat64(x)
			exact.SetMantExp(exact, int(fraction))
			if err != nil || w.Big().Cmp(nearest(exact)) != 0 {
				t.Errorf("%v with %d fraction bits is %v, %v, want %v", x, fraction, w.Big(), err, nearest(exact))
			}
		}
	}
	for _, w := range some(r) {
		for _, fraction := range []uint{0, 26, 100} {
			exact := new(big.Float).SetPrec(300).SetInt(w.Big())
			exact.SetMantExp(exact, -int(fraction))
			if want, _ := exact.Float64(); w.Float(fraction) != want {
				t.Errorf("%v with %d fraction bits is %v, want %v", w.Big(), fraction, w.Float(fraction), want)
			}
		}
	}
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0x1p127, -0x1p127, 0x1p93, math.MaxFloat64} {
		if w, err := FromFloat(x, 34); err == nil {
			t.Errorf("%v becomes %v", x, w.Big())
		}
	}
}

// nearest is the whole number nearest to v, the even one if two are as near.
func nearest(v *big.Float) *big.Int {
	twice, _ := new(big.Float).Add(v, v).Int(nil) // towards 0
	exactly := new(big.Float).SetInt(twice).Cmp(new(big.Float).Add(v, v)) == 0
	whole := new(big.Int).Quo(twice, big.NewInt(2))
	odd := twice.Bit(0) == 1
	if odd && (!exactly || whole.Bit(0) == 1) {
		whole.Add(whole, big.NewInt(int64(v.Sign())))
	}
	return whole
}
