package privacy

import (
	"math"
	"testing"
)

// ensemble is the Gaussian orthogonal ensemble of n x n matrices with variance 1/2 above the diagonal and 1 on it. Its
// density of eigenvalues is known exactly (Mehta, Random Matrices, 3rd edition, 2004, equation 7.2.33):
//
//	sum over j < n of phi_j(x)^2 + sqrt(n/2) phi_(n-1)(x) (integral of phi_n over all t of sign(x-t)/2) + [n odd] phi_(n-1)(x) / integral of phi_(n-1)
//
// with phi_j the Hermite functions.
type ensemble int

// hermite returns the sum of phi_j(x)^2 over j < n, phi_(n-1)(x) and phi_n(x). Powers of e are taken out of the recurrence,
// which would overflow.
func (n ensemble) hermite(x float64) (sum, last, next float64) {
	logarithm, before, now := -x*x/2, 0.0, math.Pow(math.Pi, -.25)
	for j := range int(n) {
		sum += now * now
		before, now = now, math.Sqrt(2/float64(j+1))*x*now-math.Sqrt(float64(j)/float64(j+1))*before
		if math.Abs(now) > 1e100 {
			now, before, sum, logarithm = now*1e-100, before*1e-100, sum*1e-200, logarithm+100*math.Ln10
		}
	}
	e := math.Exp(logarithm)
	return sum * e * e, before * e, now * e
}

// integral returns the integral of phi_k over all numbers for even k.
func integral(k int) float64 {
	up, _ := math.Lgamma(float64(k + 1))
	down, _ := math.Lgamma(float64(k/2 + 1))
	return math.Sqrt2 * math.Pow(math.Pi, .25) * math.Exp(up/2-down-float64(k/2)*math.Ln2)
}

// above returns the expected number of eigenvalues above x, by the trapezoidal rule from far beyond.
func (n ensemble) above(x float64) float64 {
	const steps = 600
	width := (6 + 2*math.Pow(float64(n), -1./6)) / steps
	tail, count, later, laterNext := 0.0, 0.0, 0.0, 0.0
	for i := steps; i >= 0; i-- {
		sum, last, next := n.hermite(x + float64(i)*width)
		if i < steps {
			tail += width * (next + laterNext) / 2
		}
		half := 0.0
		if n%2 == 0 {
			half = integral(int(n)) / 2
		}
		density := sum + math.Sqrt(float64(n)/2)*last*(half-tail)
		if n%2 == 1 {
			density += last / integral(int(n)-1)
		}
		if i < steps {
			count += width * (density + later) / 2
		}
		later, laterNext = density, next
	}
	return count
}

// The exact expected number of eigenvalues beyond the bound, on both sides, is below the probability that it promises, and not
// far below.
func TestNormBound(t *testing.T) {
	sizes := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 16, 31, 32, 64, 100, 124, 127, 128, 256, 512, 1024}
	if !testing.Short() {
		sizes = append(sizes, 2048, 4096)
	}
	for _, m := range sizes {
		if p := 2 * ensemble(m).above(NormBound(m)/math.Sqrt2); !(p <= NormFailure) || m >= 64 && p < NormFailure/20 {
			t.Errorf("%d features: probability %.3g beyond the bound, want at most %.3g", m, p, NormFailure)
		}
	}
}

// The density has the right number of eigenvalues, and for one and two the right tail: a single number of variance 2, over
// sqrt 2.
func TestEnsemble(t *testing.T) {
	for _, x := range []float64{0, 1, 2, 4} {
		if got, want := ensemble(1).above(x), math.Erfc(x/math.Sqrt2)/2; math.Abs(got/want-1) > 1e-3 {
			t.Errorf("one number above %v: %v, want %v", x, got, want)
		}
	}
	for _, n := range []ensemble{2, 3, 8, 9} {
		if got, want := n.above(0), float64(n)/2; math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%d: %v eigenvalues above 0, want %v", n, got, want)
		}
	}
}
