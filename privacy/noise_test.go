package privacy

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"testing/iotest"
)

// The noise of the honest members alone is rho-zCDP, and one unit of variance less would not be.
func TestNoiseIsTheLeast(t *testing.T) {
	for _, c := range []struct {
		rho     float64
		squared int64
		s       Summands
	}{{.1, 1 << 32, Summands{1, 1}}, {.0244, 12345, Summands{2, 3}}, {1, 1 << 40, Summands{7, 10}}, {.001, 99, Summands{1, 4}}} {
		n, err := NewNoise(c.rho, big.NewInt(c.squared), 1000, c.s)
		if err != nil {
			t.Fatal(err)
		}
		v := float64(n.Variance.Int64())
		needed := float64(c.squared) / (2 * float64(c.s.Honest) * c.rho)
		if v < needed || v > needed*(1+2*correctionShare)+1 {
			t.Errorf("rho %v, squared sensitivity %d, %v: variance %v, want %v", c.rho, c.squared, c.s, v, needed)
		}
		if want := math.Sqrt(v * float64(c.s.All)); n.Deviation() != want {
			t.Errorf("deviation %v, want %v", n.Deviation(), want)
		}
	}
}

// tau computes the correction with package math.
func tau(variance float64, summands int) (sum float64) {
	for k := 1; k < summands; k++ {
		sum += 10 * math.Exp(-2*math.Pi*math.Pi*variance*float64(k)/float64(k+1))
	}
	return sum
}

// Where the noise of each member is small, the correction for their sum decides the variance.
func TestNoiseOfSmallVariancePaysForTheSum(t *testing.T) {
	for _, c := range []struct {
		honest, words int
		least         int64
	}{{1, 1, 1}, {2, 1, 2}, {2, 1 << 23, 4}, {1000, 1, 2}, {1 << 16, 1 << 23, 4}} {
		n, err := NewNoise(40, big.NewInt(1), c.words, Summands{c.honest, c.honest})
		if err != nil {
			t.Fatal(err)
		}
		v := n.Variance.Int64()
		if v != c.least {
			t.Errorf("%d members, %d words: variance %d, want %d", c.honest, c.words, v, c.least)
		}
		if paid := tau(float64(v), c.honest)*float64(c.words) + 1/(2*float64(c.honest)*float64(v)); paid > 40 {
			t.Errorf("%d members, %d words: rho is %v, want 40", c.honest, c.words, paid)
		}
	}
	if tau(4, 2) > 1e-15 || tau(4, 1000) > 1e-15 {
		t.Errorf("tau is %g for two members and %g for a thousand", tau(4, 2), tau(4, 1000))
	}
	if got, want := correction(1, 5), tau(1, 5); math.Abs(got/want-1) > 1e-12 {
		t.Errorf("correction %v, want %v", got, want)
	}
}

// exactRenyi returns the Renyi divergence of order a between the sum of k discrete Gaussians of the given
// variance and the same sum plus 1, by convolution.
func exactRenyi(variance float64, k int, a float64) float64 {
	const reach = 60
	one, sum := exact(variance, reach), []float64{1}
	for range k {
		next := make([]float64, len(sum)+len(one)-1)
		for i, p := range sum {
			for j, q := range one {
				next[i+j] += p * q
			}
		}
		sum = next
	}
	total := 0.0
	for i := 1; i < len(sum); i++ {
		if sum[i] > 0 && sum[i-1] > 0 {
			total += math.Exp(a*math.Log(sum[i]) + (1-a)*math.Log(sum[i-1]))
		}
	}
	return math.Log(total) / (a - 1)
}

// The accountant's bound holds for the exact divergences of sums of discrete Gaussians, also where they
// differ from that of one Gaussian: with a variance of 1/4 they exceed it.
func TestSumsOfDiscreteGaussians(t *testing.T) {
	exceeded := false
	for _, v := range []float64{.25, .5, 1, 4} {
		for _, k := range []int{2, 3} {
			for _, a := range []float64{1.1, 2, 3} {
				alone := a / (2 * float64(k) * v)
				got := exactRenyi(v, k, a)
				if most := a * (1/(2*float64(k)*v) + tau(v, k)); got > most*(1+1e-9) {
					t.Errorf("variance %v, %d members, order %v: divergence %v, want at most %v", v, k, a, got, most)
				}
				exceeded = exceeded || got > alone*(1+1e-6)
			}
		}
	}
	if !exceeded {
		t.Error("no divergence exceeds that of a single Gaussian: the test says nothing")
	}
}

func TestNoiseRefuses(t *testing.T) {
	one := big.NewInt(1)
	for _, c := range []struct {
		rho     float64
		squared *big.Int
		words   int
		s       Summands
		want    string
	}{
		{0, one, 1, Summands{1, 1}, "must be above 0"},
		{math.NaN(), one, 1, Summands{1, 1}, "must be above 0"},
		{math.Inf(1), one, 1, Summands{1, 1}, "must be above 0"},
		{1, new(big.Int), 1, Summands{1, 1}, "must be above 0"},
		{1, one, 0, Summands{1, 1}, "must be above 0"},
		{1, one, 1, Summands{0, 1}, "at least one"},
		{1, one, 1, Summands{3, 2}, "at least one"},
		{1, one, 1, Summands{1, MostSummands + 1}, "at most 65536"},
		{1, new(big.Int).Lsh(one, 102), 1, Summands{1, 1}, "not below 2^100"},
	} {
		if _, err := NewNoise(c.rho, c.squared, c.words, c.s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// Equal bytes give equal noise, so a process that starts again repeats it.
func TestNoiseRepeats(t *testing.T) {
	n := Noise{big.NewInt(1 << 50), Summands{1, 1}}
	a, b, c := make([]int64, 100), make([]int64, 100), make([]int64, 100)
	for label, dst := range map[string][]int64{"x": a, "y": c} {
		if err := n.Draw(dst, stream(label)); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Draw(b, iotest.OneByteReader(stream("x"))); err != nil {
		t.Fatal(err)
	}
	same := 0
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("word %d: %d and %d of equal bytes", i, a[i], b[i])
		}
		if a[i] == c[i] {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d words are equal for other bytes", same)
	}
	broken := errors.New("broken")
	if err := n.Draw(a, iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}
