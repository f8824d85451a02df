package exactmath

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"testing"
)

func TestAgreesWithMath(t *testing.T) {
	for i := range 20000 {
		u := float64(i+1) / 20000
		for _, x := range []float64{u, 1 / u, u * 0x1p-40, math.Ldexp(u, i%2000-1000)} {
			if got, want := Log(x), math.Log(x); math.Abs(got-want) > 2e-15*(1+math.Abs(want)) {
				t.Errorf("Log(%v) = %v, want %v", x, got, want)
			}
		}
		for _, x := range []float64{float64(i) / 1000, float64(i) * 0.035} {
			if got, want := ExpNegative(x), math.Exp(-x); math.Abs(got-want) > 2e-14*(1+x/20)*want {
				t.Errorf("ExpNegative(%v) = %v, want %v", x, got, want)
			}
		}
	}
	if got := Log(0x1p-53); math.Abs(got+53*math.Ln2) > 1e-13 {
		t.Errorf("Log(2^-53) = %v", got)
	}
}

func TestTinyPowers(t *testing.T) {
	for _, x := range []float64{740, 745, 745.13} {
		if got, want := ExpNegative(x), math.Exp(-x); math.Abs(got-want) > 0x1p-1074 {
			t.Errorf("ExpNegative(%v) = %v, want %v", x, got, want)
		}
	}
	for _, x := range []float64{746, 1e9, math.MaxFloat64, math.Inf(1)} {
		if got := ExpNegative(x); got != 0 {
			t.Errorf("ExpNegative(%v) = %v", x, got)
		}
	}
}

// The bits themselves, which tests on another machine must find again.
func TestBitsAreTheSameEverywhere(t *testing.T) {
	h := sha256.New()
	for i := range 1 << 14 {
		x := (float64(i) + 0.5) / (1 << 10)
		for _, v := range []float64{Log(x), Log(1 / x), ExpNegative(x), ExpNegative(40 * x)} {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	const want = "f31276cbe6439a14635fa394c1dd3964aeb93ae2b527eb3132616c8f7f59b369"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("the values' SHA-256 is %s, elsewhere %s", got, want)
	}
}
