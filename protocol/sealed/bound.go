package sealed

import (
	"errors"
	"math"

	"github.com/mercer-fl/mercer/linalg/chebyshev"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// CheckSums is the number of sums that the check opens: of the words of the residual, each with a random
// coefficient from {-1, 0, 0, 1}.
const CheckSums = 40

// Accepted is the factor of [Bounds.Residual] within which the check accepts a sum.
const Accepted = 2.5

// Bounds holds what honest keepers stay within.
type Bounds struct {
	// Residual bounds a sum of the words of R = B - (A + alpha) W with coefficients from {-1, 0, 0, 1},
	// in rows: a row adds at most sqrt(N/n) to a word of B.
	Residual float64
	// Remainder and Rounding are its two parts.
	Remainder, Rounding float64
	// Weights bounds such a sum of the words of W.
	Weights float64
	// ResidualUnits and WeightsUnits are Residual and Weights as even whole numbers of the units of R and of W.
	ResidualUnits, WeightsUnits ring128.Word
}

// Bounds returns the bounds of a problem. They are public and the same for all rows. It returns an error if
// the problem fails its check.
//
// A sum with coefficients from {-1, 0, 0, 1} of words with the norm |R| is above 7/sqrt(2) |R| with a
// probability of at most 2 exp(-49/2), 5e-11: its moments are at most those of a normal number with the
// variance |R|^2/2, since (1 + cosh s)/2 = cosh(s/2)^2 <= exp(s^2/4).
//
// The remainder of the polynomial has the norm of B over cosh(K acosh(1 + 2 alpha/N)) at most
// (chebyshev.Polynomial), and the norm of B is at most sqrt(N n): that of the rows sqrt(N), that of the
// targets sqrt(n).
//
// For roundings the bound is an allowance, not a theorem: N sqrt(M c) times a unit of W, and K units of
// the vectors, as if each of K steps made an error of one unit in every word and none were damped.
// Measured runs stay below a fiftieth of it (TestRoundingOfDigits, TestPlainA9a).
//
// The norm of W is at most sqrt(n/(4 alpha)), for which 5 stands in place of 7/sqrt(2): the greatest
// value of sqrt(x)/(x + alpha) is 1/(2 sqrt(alpha)).
func (p Problem) Bounds() (Bounds, error) {
	if err := p.Check(); err != nil {
		return Bounds{}, err
	}
	polynomial, err := chebyshev.New(p.Ratio(), p.Plan.Steps)
	if err != nil {
		return Bounds{}, err
	}
	n, bound := float64(p.Rows), float64(p.Bound())
	remainder := float64(7 / math.Sqrt2 * math.Sqrt(bound*n) * polynomial.Remainder)
	words := math.Sqrt(float64(p.Features) * float64(p.Targets))
	units := math.Ldexp(1, -WeightBits) + math.Ldexp(float64(p.Plan.Steps), -VectorBits)
	rounding := float64(bound * words * units) // not fused with the sum: all members have the same bound
	b := Bounds{
		Residual: remainder + rounding, Remainder: remainder, Rounding: rounding,
		Weights: 5 * math.Sqrt(n/(4*p.Ratio()*bound)),
	}
	var err2 error
	b.ResidualUnits, err = ring128.FromFloat(2*math.Ceil(math.Ldexp(b.Residual, 2*p.CellBits()+WeightBits-1)), 0)
	b.WeightsUnits, err2 = ring128.FromFloat(2*math.Ceil(math.Ldexp(b.Weights, WeightBits-1)), 0)
	return b, errors.Join(err, err2)
}
