package moments

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/privacy"
)

// binomialTail returns P[X >= k] of a binomial X, n trials of probability p.
func binomialTail(n, k int, p float64) (sum float64) {
	logs := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
	for i := k; i <= n; i++ {
		term := math.Exp(logs(n) - logs(i) - logs(n-i) + float64(i)*math.Log(p) + float64(n-i)*math.Log1p(-p))
		if sum += term; term < 1e-12*sum && float64(i) > p*float64(n) {
			break
		}
	}
	return sum
}

// clopperPearson returns the least probability with which k or more of n trials happen at a rate of risk.
func clopperPearson(n, k int, risk float64) float64 {
	if k == 0 {
		return 0
	}
	lo, hi := 0.0, float64(k)/float64(n)
	for range 60 {
		if p := (lo + hi) / 2; binomialTail(n, k, p) < risk {
			lo = p
		} else {
			hi = p
		}
	}
	return lo
}

func TestClopperPearson(t *testing.T) {
	for _, c := range []struct {
		n, k int
		want float64 // of 2.5 %: 1-.975^(1/10), the published table for 10 and 100 trials, .025^(1/5)
	}{{10, 1, .00253}, {10, 5, .1871}, {100, 10, .0490}, {5, 5, .4782}, {100, 0, 0}} {
		if got := clopperPearson(c.n, c.k, .025); math.Abs(got-c.want) > 6e-5 {
			t.Errorf("%d of %d: %v, want %v", c.k, c.n, got, c.want)
		}
	}
}

// audited is a release of noisy sums on either of two data sets, given by their exact sums. They differ by one row of the
// greatest length.
type audited struct {
	with, without *Partial
	noise         privacy.Ridge
	members       int // who add noise
}

// ratio returns the logarithm of the likelihood ratio of Gaussians for sums, but for a constant: a projection on the difference. No test
// tells the data sets apart better (Neyman and Pearson).
func (a audited) ratio(of *Partial) (sum float64) {
	variance := func(n privacy.Noise) float64 {
		return n.Deviation() * n.Deviation() * float64(a.members) / float64(n.Summands.All)
	}
	products, squares, at := variance(a.noise.Products), variance(a.noise.Squares), 0
	for i := range of.Features {
		for j := i; j < of.Features; j++ {
			v := products
			if i == j {
				v = squares
			}
			sum += float64(of.Outer[at]-a.without.Outer[at]) * float64(a.with.Outer[at]-a.without.Outer[at]) / v
			at++
		}
	}
	for k, v := range of.Cross {
		sum += float64(v-a.without.Cross[k]) * float64(a.with.Cross[k]-a.without.Cross[k]) / variance(a.noise.Cross)
	}
	return sum
}

// audit runs the release many times on each data set, and guesses in each run whether the row is in: from a threshold on, in
// deviations, which is fixed before. It returns a lower bound of epsilon that holds with 95 %, since each of two rates has a bound that
// holds with 97.5 %.
func (a audited) audit(t *testing.T, pairs int, threshold, delta float64) float64 {
	t.Helper()
	apart := math.Sqrt(a.ratio(a.with)) // deviations between the data sets
	hits, alarms, random := 0, 0, coins(1)
	for range pairs {
		if a.ratio(withNoise(t, a.with, a.noise, a.members, random))/apart > threshold {
			hits++
		}
		if a.ratio(withNoise(t, a.without, a.noise, a.members, random))/apart > threshold {
			alarms++
		}
	}
	least := clopperPearson(pairs, hits, .025)
	most := 1 - clopperPearson(pairs, pairs-alarms, .025)
	bound := math.Log(max(least-delta, 1e-300) / most)
	t.Logf("%.3f deviations apart, %d pairs: %d hits, %d false alarms, epsilon is at least %.3f", apart, pairs, hits, alarms, bound)
	return bound
}

// auditOf audits a guarantee for two data sets that differ by a row, which is longer than the bound. With the noise of the honest members, many
// runs do not show more than the epsilon that is promised; with half the noise they do.
func auditOf(t *testing.T, row []float64, g privacy.Guarantee, pairs int, threshold float64) {
	m := feature.Linear{Inputs: len(row), Bound: 1}
	x, codes := drawRowsOf(40, len(row))
	copy(x.Row(0), row)
	with := partialOf(t, m, x, UnitClasses{codes, 2})
	without := partialOf(t, m, x.Panel(1, 40), UnitClasses{codes[1:], 2})
	a := audited{with, without, ridgeFor(t, g, m, 1, 1), 2}
	if got := a.audit(t, pairs, threshold, g.Delta); got > g.Epsilon {
		t.Errorf("epsilon is at least %v, promised are %v", got, g.Epsilon)
	}
	for _, n := range []*privacy.Noise{&a.noise.Products, &a.noise.Squares, &a.noise.Cross} {
		n.Variance.Rsh(n.Variance, 2)
	}
	if got := a.audit(t, pairs, threshold, g.Delta); got <= g.Epsilon {
		t.Errorf("half the noise: epsilon is at least %v, want above %v, or the audit says nothing", got, g.Epsilon)
	}
}

func TestAuditOfTheGuarantee(t *testing.T) {
	t.Run("one column", func(t *testing.T) { auditOf(t, []float64{5}, privacy.Guarantee{Epsilon: 1, Delta: .01}, 3000, 2.2) })
	t.Run("three columns", func(t *testing.T) {
		auditOf(t, []float64{-3, 4, 1}, privacy.Guarantee{Epsilon: 2, Delta: .01}, 2000, 2.2)
	})
}

// drawRowsOf draws rows of two classes.
func drawRowsOf(n, width int) (linalg.Matrix[float64], []int) {
	r := rand.New(rand.NewPCG(5, 6))
	x, codes := linalg.New[float64](n, width), make([]int, n)
	for i := range x.Data {
		x.Data[i] = r.NormFloat64()
	}
	for i := range codes {
		codes[i] = r.IntN(2)
	}
	return x, codes
}
