package privacy

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/crypto/exactmath"
)

// Guarantee is (epsilon, delta)-differential privacy: for all neighbours x and y and every set S of
// results, P[result of x in S] <= exp(Epsilon) P[result of y in S] + Delta.
type Guarantee struct{ Epsilon, Delta float64 }

// These are the limits of a [Guarantee].
const (
	LeastEpsilon = 0.01
	MostEpsilon  = 100
	LeastDelta   = 1e-15
	MostDelta    = 0.01
)

// Check returns an error if a number is out of its limits.
func (g Guarantee) Check() error {
	switch {
	case !(g.Epsilon >= LeastEpsilon && g.Epsilon <= MostEpsilon):
		return fmt.Errorf("privacy: epsilon is %v; use %v to %v", g.Epsilon, LeastEpsilon, MostEpsilon)
	case !(g.Delta >= LeastDelta && g.Delta <= MostDelta):
		return fmt.Errorf("privacy: delta is %v; use %v to %v", g.Delta, LeastDelta, MostDelta)
	}
	return nil
}

// Rho returns a rho for which rho-zCDP (zero-concentrated differential privacy) gives the guarantee:
// the largest one that the conversion of [Delta] yields, less at most one part in a million. The
// rhos of several releases over the same rows add up. It returns 0 for a guarantee that Check
// refuses. The result has the same bits on every machine.
func (g Guarantee) Rho() float64 {
	if g.Check() != nil {
		return 0
	}
	limit := exactmath.Log(g.Delta)
	return bisect(0, g.Epsilon+1, func(rho float64) bool { return logDelta(rho, g.Epsilon) <= limit })
}

// These are the limits of the rho that [Epsilon] and [Delta] convert.
const (
	LeastRho = 1e-9
	MostRho  = 1e4
)

// Epsilon returns the least epsilon for which rho-zCDP implies (epsilon, delta)-differential privacy
// by the conversion of [Delta]. It is rounded up by less than one part in a million. It returns 0 for
// rho 0 and any delta above 0. Otherwise it returns +Inf if rho or delta is out of its limits.
func Epsilon(rho, delta float64) float64 {
	switch {
	case rho == 0 && delta > 0:
		return 0
	case !(rho >= LeastRho && rho <= MostRho && delta >= LeastDelta && delta <= MostDelta):
		return math.Inf(1)
	}
	limit := exactmath.Log(delta)
	most := rho + 2*math.Sqrt(-rho*limit) + 1 // the standard conversion, which gives more
	return most - bisect(0, most, func(less float64) bool { return logDelta(rho, most-less) <= limit })
}

// Delta returns the least delta for which rho-zCDP implies (epsilon, delta)-differential privacy, by
//
//	delta = min over a > 1 of exp((a-1)(a rho - epsilon)) / (a-1) (1 - 1/a)^a
//
// (Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020,
// corollary 13 of arXiv 2004.00010). It is rounded up by less than one part in a million. It returns 0
// for rho 0, and 1 if another rho is out of its limits or epsilon is below 0.
func Delta(rho, epsilon float64) float64 {
	switch {
	case rho == 0 && epsilon >= 0:
		return 0
	case !(rho >= LeastRho && rho <= MostRho && epsilon >= 0):
		return 1
	}
	return exactmath.ExpNegative(max(0, -logDelta(rho, epsilon)))
}

// slack is more than the rounding errors of logDelta. The largest is that of 1 - 1/a, 10^-16, times a, which
// is below 10^9 for the results of this package.
const slack = 2e-7

// logDelta returns the logarithm of the delta of [Delta], rounded up. Any a gives a valid delta, so the search for
// the best a need not be exact.
func logDelta(rho, epsilon float64) float64 {
	if rho == 0 {
		return math.Inf(-1)
	}
	most := (epsilon+1)/(2*rho) + 2
	a := bisect(1.001, most, func(a float64) bool {
		return float64((2*a-1)*rho)-epsilon+exactmath.Log(1-1/a) <= 0 // the derivative
	})
	return float64((a-1)*(float64(a*rho)-epsilon)) - exactmath.Log(a-1) + float64(a*exactmath.Log(1-1/a)) + slack
}

// bisect returns the greatest number from lo to hi for which a condition holds, except for its last bits. The
// condition must hold up to some number and fail beyond it. It holds for the result, unless it fails at lo: then
// bisect returns lo.
func bisect(lo, hi float64, holds func(float64) bool) float64 {
	for range 100 {
		middle := lo + float64((hi-lo)/2)
		if holds(middle) {
			lo = middle
		} else {
			hi = middle
		}
	}
	return lo
}
