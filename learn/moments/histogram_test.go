package moments

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestBinsOfDecisions(t *testing.T) {
	above, below := math.Nextafter(0, 1), math.Nextafter(0, -1)
	for d, want := range map[float64]int{
		-Clip: 0, -7: 0, math.Inf(-1): 0, -Clip + 0.04: 0, -Clip + 0.041: 1, -0.04: 48, below: 49, 0: 49, above: 50, 0.04: 50, 0.041: 51,
		Clip - 0.039: 99, Clip: 99, 9: 99, math.Inf(1): 99, math.NaN(): 0,
	} {
		if got := binOf([]float64{-d, d}); got != want {
			t.Errorf("%v is in bin %d, want %d", d, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		f := []float64{rapid.Float64().Draw(t, "first"), rapid.Float64().Draw(t, "second")}
		bin := binOf(f)
		if bin < 0 || bin >= Bins || (bin >= Bins/2) != (Predict(f) == 1) {
			t.Fatalf("%v is in bin %d, and of class %d", f, bin, Predict(f))
		}
	})
}

// Rounding moves the rows up to a bin by half a thousandth of all rows, and not more, and no bin
// gets less than nothing.
func TestRoundedCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		counts := rapid.SliceOfN(rapid.IntRange(0, 200), 1, 40).Draw(t, "counts")
		n := rapid.IntRange(0, 3000).Draw(t, "others")
		for _, c := range counts {
			n += c
		}
		rows, told := 0, int64(0)
		for i, v := range RoundCounts(counts, n) {
			rows, told = rows+counts[i], told+v
			if off := math.Abs(float64(told)/Thousand - float64(rows)); v < 0 || off > float64(n)/2/Thousand+1e-9 {
				t.Fatalf("bin %d is told as %d, off by %v of %d rows", i, v, off, n)
			}
		}
	})
}
