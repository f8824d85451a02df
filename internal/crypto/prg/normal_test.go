package prg

import (
	"math"
	"slices"
	"testing"
)

// The constants solve the two equations that define them: equal areas, and strips that end
// at the peak.
func TestZigguratCloses(t *testing.T) {
	tail := math.Sqrt(math.Pi/2) * math.Erfc(tailStart/math.Sqrt2)
	if area := tailStart*math.Exp(-tailStart*tailStart/2) + tail; math.Abs(area-stripArea) > 1e-16 {
		t.Errorf("area of the base strip is %.18g, the constant says %.18g", area, stripArea)
	}
	x := edges()
	last := x[layers-1]
	if peak := math.Exp(-last*last/2) + stripArea/last; math.Abs(peak-1) > 1e-11 {
		t.Errorf("the strips end at %.15g, want 1", peak)
	}
	if !slices.IsSortedFunc(x[:], func(a, b float64) int { return -cmpFloat(a, b) }) {
		t.Error("the edges do not shrink")
	}
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// One million draws against the distribution function: Kolmogorov-Smirnov at
// a level of about 1e-6, the moments at six standard errors, the tail beyond
// the ziggurat's own edge within six standard errors.
func TestNormFloat64IsNormal(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	const n = 1 << 20
	s := New([32]byte{5}, "test/normal")
	x := make([]float64, n)
	var moment [5]float64
	beyond := 0
	for i := range x {
		x[i] = s.NormFloat64()
		for p, v := 1, x[i]; p < 5; p, v = p+1, v*x[i] {
			moment[p] += v / n
		}
		if math.Abs(x[i]) > tailStart {
			beyond++
		}
	}
	variance := [5]float64{0, 1, 2, 15, 96} // of x, x^2, x^3, x^4
	for p, want := range []float64{0, 0, 1, 0, 3} {
		if p > 0 && math.Abs(moment[p]-want) > 6*math.Sqrt(variance[p]/n) {
			t.Errorf("moment %d is %v, want %v", p, moment[p], want)
		}
	}
	expected := n * math.Erfc(tailStart/math.Sqrt2)
	if math.Abs(float64(beyond)-expected) > 6*math.Sqrt(expected) {
		t.Errorf("%d values beyond %v, expected %.0f", beyond, tailStart, expected)
	}
	slices.Sort(x)
	worst := 0.0
	for i, v := range x {
		cdf := math.Erfc(-v/math.Sqrt2) / 2
		worst = max(worst, math.Abs(cdf-float64(i)/n), math.Abs(cdf-float64(i+1)/n))
	}
	if limit := 2.7 / math.Sqrt(n); worst > limit {
		t.Errorf("Kolmogorov-Smirnov distance %v, at most %v", worst, limit)
	}
}

// A histogram of 4,096 equally likely cells is fine enough to see one strip
// that is a few per cent too heavy.
func TestNormFloat64CellByCell(t *testing.T) {
	const cells, each = 4096, 512
	s := New([32]byte{6}, "test/normal")
	var count [cells]int
	for range cells * each {
		u := math.Erfc(-s.NormFloat64()/math.Sqrt2) / 2
		count[min(int(u*cells), cells-1)]++
	}
	if chi := chiSquare(count[:], each); math.Abs(chi-(cells-1)) > 6*math.Sqrt(2*cells) {
		t.Errorf("chi-square %v on %d cells", chi, cells)
	}
}

func chiSquare(count []int, expected float64) float64 {
	sum := 0.0
	for _, c := range count {
		sum += (float64(c) - expected) * (float64(c) - expected) / expected
	}
	return sum
}

// In batches of any size, with other reads in between, the numbers equal those of
// NormFloat64.
func TestNormalsAreNormFloat64(t *testing.T) {
	one, many := New([32]byte{7}, "test/normal"), New([32]byte{7}, "test/normal")
	for round, n := range []int{1, 0, 2, 127, 128, 129, 3, 5000, 60, 100000} {
		got := make([]float64, n)
		many.Normals(got)
		for i, v := range got {
			if want := one.NormFloat64(); v != want {
				t.Fatalf("number %d of %d is %v, want %v", i, n, v, want)
			}
		}
		odd, want := make([]byte, round), make([]byte, round) // words straddle the buffer's end from here on
		if _, err := many.Read(odd); err != nil {
			t.Fatal(err)
		}
		if _, err := one.Read(want); err != nil || !slices.Equal(odd, want) {
			t.Fatalf("after %d numbers the streams differ (%v)", n, err)
		}
		if round == 6 {
			one.Seek(1 << 20)
			many.Seek(1 << 20)
		}
	}
}
