package privacy

import (
	"errors"
	"io"
	"math"
	"math/big"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

func stream(label string) io.Reader { return prg.New([32]byte{7}, label) }

func draws(t testing.TB, variance *big.Rat, n int) []int64 {
	t.Helper()
	g, err := NewGaussian(variance)
	if err != nil {
		t.Fatal(err)
	}
	d := drawing{Gaussian: g, source: source{from: stream(variance.String())}}
	out := make([]int64, n)
	for i := range out {
		if out[i], err = d.next(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// chiSquare returns how many standard deviations Pearson's statistic is above its mean. Neighbouring cells are added up
// until 20 draws are expected in each.
func chiSquare(counts []int, probabilities []float64, n int) float64 {
	var found, expected []float64
	open := false
	for i, p := range probabilities {
		if !open {
			found, expected = append(found, 0), append(expected, 0)
		}
		last := len(found) - 1
		found[last] += float64(counts[i])
		expected[last] += p * float64(n)
		open = expected[last] < 20
	}
	if last := len(found) - 1; open && last > 0 {
		found[last-1] += found[last]
		expected[last-1] += expected[last]
		found, expected = found[:last], expected[:last]
	}
	statistic := 0.0
	for i, f := range found {
		statistic += (f - expected[i]) * (f - expected[i]) / expected[i]
	}
	free := float64(len(found) - 1)
	return (statistic - free) / math.Sqrt(2*free)
}

// exact returns the probabilities of -reach to reach, beyond which there is next to nothing.
func exact(variance float64, reach int) []float64 {
	p, sum := make([]float64, 2*reach+1), 0.0
	for i := range p {
		x := float64(i - reach)
		p[i] = math.Exp(-x * x / (2 * variance))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// Every number is as frequent as the distribution says: for variances below 1, fractions and whole ones.
func TestGaussianNumberByNumber(t *testing.T) {
	const n = 200_000
	for _, v := range []*big.Rat{big.NewRat(1, 10), big.NewRat(1, 3), big.NewRat(1, 2), big.NewRat(1, 1), big.NewRat(22, 7), big.NewRat(16, 1), big.NewRat(100, 1), big.NewRat(12345, 7)} {
		f, _ := v.Float64()
		reach := int(12*math.Sqrt(f)) + 3
		counts := make([]int, 2*reach+1)
		for _, x := range draws(t, v, n) {
			if x < -int64(reach) || x > int64(reach) {
				t.Fatalf("variance %v: drew %d", v, x)
			}
			counts[int(x)+reach]++
		}
		if z := chiSquare(counts, exact(f, reach), n); math.Abs(z) > 4.5 {
			t.Errorf("variance %v: chi-square is %.1f deviations from its mean", v, z)
		}
	}
}

// With large variances, a discrete Gaussian over its deviation is a normal number: 40 bins of equal probability, and moments.
func TestGaussianOfLargeVariance(t *testing.T) {
	const n, bins = 200_000, 40
	for _, bits := range []uint{20, 60, 100} {
		v := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), bits))
		deviation := math.Ldexp(1, int(bits/2))
		counts, p := make([]int, bins), make([]float64, bins)
		var moments [5]float64
		low := [2]int{}
		for _, x := range draws(t, v, n) {
			z := float64(x) / deviation
			share := math.Erfc(-z/math.Sqrt2) / 2
			counts[min(int(share*bins), bins-1)]++
			for k := range moments {
				moments[k] += math.Pow(z, float64(k)) / n
			}
			low[x&1]++
		}
		for i := range p {
			p[i] = 1. / bins
		}
		if z := chiSquare(counts, p, n); math.Abs(z) > 4.5 {
			t.Errorf("variance 2^%d: chi-square is %.1f deviations from its mean", bits, z)
		}
		for k, want := range []float64{1, 0, 1, 0, 3} {
			if tolerance := 4.5 * math.Sqrt([]float64{0, 1, 2, 15, 96}[k]/n); math.Abs(moments[k]-want) > tolerance+1e-9 {
				t.Errorf("variance 2^%d: moment %d is %v, want %v within %.3g", bits, k, moments[k], want, tolerance)
			}
		}
		if odd := float64(low[1]) / n; math.Abs(odd-.5) > 4.5*.5/math.Sqrt(n) {
			t.Errorf("variance 2^%d: %.4f of all numbers are odd", bits, odd)
		}
	}
}

// Each sixth of the numbers below a bound is as likely. No bound is a power of two.
func TestBelowIsUniform(t *testing.T) {
	const n = 60_000
	s := source{from: stream("below")}
	wide := new(big.Int).Mul(big.NewInt(3<<55), new(big.Int).Lsh(big.NewInt(1), 70))
	var x big.Int
	small, narrow, broad := make([]int, 6), make([]int, 6), make([]int, 6)
	for range n {
		small[s.below(6)]++
		narrow[s.below(3<<55)>>54]++
		s.belowWide(&x, wide)
		broad[x.Rsh(&x, 70+54).Int64()]++
	}
	sixth := []float64{1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6, 1. / 6}
	for name, counts := range map[string][]int{"6": small, "3 2^55": narrow, "3 2^125": broad} {
		if z := chiSquare(counts, sixth, n); z > 4.5 {
			t.Errorf("below %s: %v", name, counts)
		}
	}
	if s.err != nil {
		t.Error(s.err)
	}
}

// Lemire's rejection matters where 2^64 is far from a multiple of the bound: for 3 2^62 a third of all words is rejected.
func TestBelowRejects(t *testing.T) {
	const n = 60_000
	s := source{from: stream("rejects")}
	counts := make([]int, 3)
	for range n {
		counts[s.below(3<<62)>>62]++
	}
	if z := chiSquare(counts, []float64{1. / 3, 1. / 3, 1. / 3}, n); z > 4.5 {
		t.Errorf("thirds: %v", counts)
	}
}

func TestGaussianRefuses(t *testing.T) {
	one := big.NewInt(1)
	huge := new(big.Int).Add(new(big.Int).Lsh(one, 100), one)
	for _, v := range []*big.Rat{new(big.Rat), big.NewRat(-1, 2), new(big.Rat).SetInt(huge), new(big.Rat).SetFrac(one, huge)} {
		if _, err := NewGaussian(v); err == nil || !strings.Contains(err.Error(), "use a fraction above 0 and up to 2^100") {
			t.Errorf("%v: %v", v, err)
		}
	}
	for _, v := range []*big.Rat{new(big.Rat).SetInt(new(big.Int).Lsh(one, 100)), new(big.Rat).SetFrac(one, new(big.Int).Lsh(one, 100))} {
		g, err := NewGaussian(v)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Draw(stream("limits")); err != nil {
			t.Errorf("%v: %v", v, err)
		}
	}
}

// A source that ends is an error wherever it ends, never a number.
func TestGaussianSourceEnds(t *testing.T) {
	g, err := NewGaussian(big.NewRat(1<<40, 3))
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	short := 0
	for bytes := range int64(400) {
		whole := io.LimitReader(stream("ends"), bytes)
		x, err := g.Draw(io.MultiReader(whole, iotest.ErrReader(broken)))
		if err == nil {
			want, _ := g.Draw(stream("ends"))
			if x != want {
				t.Errorf("after %d bytes: %d, want %d", bytes, x, want)
			}
			continue
		}
		short++
		if !errors.Is(err, broken) && !errors.Is(err, io.ErrUnexpectedEOF) || x != 0 {
			t.Errorf("after %d bytes: %d, %v", bytes, x, err)
		}
	}
	if short < 16 || short == 400 {
		t.Errorf("%d of 400 sources were too short", short)
	}
}

func BenchmarkDraw(b *testing.B) {
	n := Noise{Variance: new(big.Int).Lsh(big.NewInt(1), 60), Summands: Summands{1, 1}}
	words, r := make([]int64, 1000), stream("bench")
	for b.Loop() {
		if err := n.Draw(words, r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "draws/s")
}
