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

// Rounding moves the rows up to a bin by two, and by four where it is all rows; of more than 5,000 rows by half a
// thousandth. No bin gets less than nothing, and what is told is in fives, or thousandths of the rows.
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
			most, unit := 2., int64(Five*Thousand)
			switch {
			case n > Five*Thousand:
				most, unit = float64(n)/2/Thousand+1e-9, int64(n)
			case rows > n/Five*Five:
				most = 4
			}
			if off := math.Abs(float64(told)/Thousand - float64(rows)); v < 0 || off > most || told%unit != 0 {
				t.Fatalf("bin %d is told as %d, off by %v of %d rows", i, v, off, n)
			}
		}
	})
}

// Whatever is told, at least three counts tell it, and of two classes' counts at a party no more than four rows are off.
func TestNoCountIsToldExactly(t *testing.T) {
	for n := range 300 {
		counts := make(map[int64]int)
		for count := range n + 1 {
			told := RoundShare(count, n)
			counts[told]++
			other := RoundShare(n-count, n)
			if off := math.Abs(float64(told)/Thousand-float64(count)) + math.Abs(float64(other)/Thousand-float64(n-count)); off > RoundedOff(1, 0) {
				t.Errorf("%d and %d of %d rows are off by %v", count, n-count, n, off)
			}
		}
		for told, of := range counts {
			if of < min(3, n+1) {
				t.Errorf("of %d rows %d is told of %d counts alone", n, told, of)
			}
		}
	}
}
