package privacy

import (
	"errors"
)

// Guarantee is (epsilon, delta)-differential privacy: for neighbours x and y and every set S of
// results, P[result of x in S] <= exp(Epsilon) P[result of y in S] + Delta.
type Guarantee struct{ Epsilon, Delta float64 }

// Check returns an error unless Epsilon is from 0.01 to 100, and Delta from 1e-15 to 0.01.
func (g Guarantee) Check() error { return nil }

// Rho returns the largest rho for which rho-zCDP (zero-concentrated differential privacy) gives the
// guarantee, by the conversion of [Epsilon]. It is rounded down by less than one part in a million. Rhos of
// several releases over the same rows add up. It returns 0 for a guarantee that Check refuses. The
// result is the same number on every machine.
func (g Guarantee) Rho() float64 { return 0 }

// Epsilon returns the least epsilon for which rho-zCDP implies (epsilon, delta)-differential
// privacy by the optimal conversion from Rényi divergences: Canonne, Kamath and Steinke, "The
// discrete Gaussian for differential privacy", NeurIPS 2020, proposition 12 and corollary 13. It is rounded up. It
// returns +Inf if rho or delta is out of range.
func Epsilon(rho, delta float64) float64 { return 0 }

// Delta returns the least delta for which rho-zCDP implies (epsilon, delta)-differential privacy,
// by the same conversion as [Epsilon], rounded up.
func Delta(rho, epsilon float64) float64 { return 1 }

var errUnfinished = errors.New("privacy: not built yet")
