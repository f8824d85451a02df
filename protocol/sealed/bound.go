package sealed

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg/chebyshev"
)

// CheckSums is the number of sums of the residual's words that the check opens, and the number of sums of W's words. In
// each sum every word has a random coefficient from {-1, 0, 0, 1}.
const CheckSums = 40

// mostResidual bounds [Bounds.Residual], in rows.
const mostResidual = 1. / 6

// Bounds holds the bounds of sums that honest keepers compute: beta and omega of the package's comment. The check
// compares whole numbers, so the bounds are also given in units of the words' last bits. ResidualUnits and WeightsUnits
// are even and below 2^62.
type Bounds struct {
	// Residual is beta. It bounds a sum of the words of R = B - (A + alpha) W with coefficients from {-1, 0, 0, 1},
	// in rows: a row adds at most sqrt(N/n) to a word of B, with N and n of [Problem].
	Residual float64
	// Remainder and Rounding are the two parts of Residual, before Residual is rounded up.
	Remainder, Rounding float64
	// Weights is omega. It bounds a sum of the words of W with such coefficients.
	Weights float64
	// ResidualUnits is Residual in units of 2^-(2 CellBits + WeightBits).
	ResidualUnits uint64
	// WeightsUnits is Weights in units of 2^-WeightBits.
	WeightsUnits uint64
}

// Bounds returns the bounds of a problem. They are public and the same for all rows. It returns an error if
// the problem fails its check.
func (p Problem) Bounds() (Bounds, error) {
	if err := p.Check(); err != nil {
		return Bounds{}, err
	}
	polynomial, err := chebyshev.New(p.Ratio(), p.Plan.Steps)
	if err != nil {
		return Bounds{}, err
	}
	return p.bounds(polynomial), nil
}

// sumBound is the bound of a sum with coefficients from {-1, 0, 0, 1}, for words with norm 1. The sum exceeds
// it with a probability of at most 2 exp(-49/2), 5e-11: its moments are at most those of a normal number with the
// variance 1/2, since (1 + cosh t)/2 = cosh(t/2)^2 <= exp(t^2/4).
const sumBound = 7 / math.Sqrt2

// allowedSteps is the allowance for the roundings of one step in each word, in units of the vectors' last bit.
const allowedSteps = 1. / 16

// bounds returns the bounds for a polynomial of the problem's ratio, by the package's comment. Conversions forbid
// fused multiply-adds: all members have the same bounds.
//
// For the roundings before the cut of W the bound is an allowance, not a theorem: a sixteenth unit of the vectors in
// every word for each step, of which none is damped. The rest follows from the polynomial's remainder, and from the
// norms of B, at most sqrt(N n), and of (A + alpha)^-1 B, at most sqrt(n/(4 alpha)). For a private problem, A + norm
// and alpha - norm take the places of A and alpha. The norm of B's noise is added to the norm of B, and divided by
// alpha it is added to the norm of W.
func (p Problem) bounds(polynomial chebyshev.Polynomial) Bounds {
	n, bound, noise := float64(p.Rows), float64(p.Bound()), float64(p.spread()*float64(p.Bound()))
	alpha := float64(p.Ratio() * bound)
	words := math.Sqrt(float64(p.Features) * float64(p.Targets))
	cut := float64(words * math.Ldexp(1, -int(p.WeightBits())))
	vectors := float64(words * math.Ldexp(float64(polynomial.Steps)*allowedSteps, -int(p.VectorBits())))
	rounding := float64((bound+alpha)*cut) + float64(bound*vectors)
	weights := float64((1+polynomial.Remainder)*(math.Sqrt(n/(4*alpha))+float64(noise/alpha))) + cut

	b := Bounds{
		Remainder: float64(sumBound * p.longest() * polynomial.Remainder),
		Rounding:  float64(sumBound * rounding),
	}
	b.Residual, b.ResidualUnits = even(b.Remainder+b.Rounding, 2*p.CellBits()+int(p.WeightBits()))
	b.Weights, b.WeightsUnits = even(sumBound*weights, int(p.WeightBits()))
	return b
}

// even rounds x > 0 up to an even number of units of 2^-fraction. x is below 2^(62-fraction).
func even(x float64, fraction int) (rounded float64, units uint64) {
	half := math.Ceil(math.Ldexp(x, fraction-1))
	return math.Ldexp(half, 1-fraction), 2 * uint64(half)
}

// checkBounds returns an error if the check would accept too much, or if sums that it accepts could differ from
// those of whole numbers by a multiple of 2^128.
func (p Problem) checkBounds(b Bounds) error {
	if b.Residual > mostResidual {
		return fmt.Errorf("sealed: with %d features and %d targets the check accepts sums of %.3g rows, above 1/6; use fewer features or fewer targets", p.Features, p.Targets, b.Residual)
	}
	if p.wraps(b) {
		return fmt.Errorf("sealed: with %d features the weights' sums could hide a multiple of 2^128; use fewer features or a larger alpha", p.Features)
	}
	return nil
}

// wraps reports whether 2^s B - (A + alpha) W could leave the words' range although no word of W exceeds 5 omega, and
// no word of the residual 5 beta: each entry of A and B is at most N, and of B more by its noise.
func (p Problem) wraps(b Bounds) bool {
	entry := math.Ldexp(1, p.unitBits())
	weights := float64((float64(p.Features)*entry + float64(p.Ridge)) * 5 * math.Ldexp(b.Weights, int(p.WeightBits())))
	residual := float64(5 * math.Ldexp(b.Residual, 2*p.CellBits()+int(p.WeightBits())))
	return !(weights+math.Ldexp(entry*(1+p.spread()), int(p.WeightBits()))+residual < math.Ldexp(1, 127))
}
