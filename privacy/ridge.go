package privacy

import (
	"io"
)

// Shape describes the sums A = sum of phi phi^T and B = sum of phi y^T over rows, as whole numbers. A
// unit of phi times a unit of phi is the unit of A; a unit of phi times a unit of y is the unit of B.
type Shape struct {
	Features int // M: the length of phi, 1 to 4096
	Targets  int // c: the length of y, 1 to 256
	// SquaredFeatures is the greatest squared Euclidean length of one row's phi, and SquaredTargets of one
	// row's y, both after rounding, in squared units. [Nearest] and [TowardsZero] compute them. Each is at
	// most 2^48.
	SquaredFeatures, SquaredTargets int64
	Summands                        Summands
}

// Nearest returns the greatest squared length of a vector of whole numbers, if each is the nearest to 2^fraction
// times an entry of a vector of the given greatest length and number of entries.
func Nearest(length float64, fraction, entries int) int64 { return 0 }

// TowardsZero is like [Nearest] for numbers that are rounded towards zero, which lengthens no vector.
func TowardsZero(length float64, fraction int) int64 { return 0 }

// Ridge is the noise for a ridge regression (A + alpha I)^-1 B, for one release of A and B together. Of rho,
// .8 pays for A and .2 for B.
//
// An entry of A above the diagonal has the noise Products, and one on the diagonal the noise Squares with
// twice the variance. With these weights the squared sensitivity of A's upper triangle is |phi|^4 / 2 for every phi:
//
//	sum over i < j of (phi_i phi_j)^2 + sum over i of phi_i^4 / 2 = |phi|^4 / 2
//
// (With equal variances it is (|phi|^4 + sum of phi_i^4) / 2: (1 + 2/M) / 2 for cosines and sines,
// but up to 1 for linear features.) A's symmetric noise is then a Gaussian orthogonal ensemble, whose largest
// eigenvalue has exact bounds ([NormBound]). B's squared sensitivity is |phi|^2 |y|^2.
type Ridge struct {
	Shape    Shape
	Rho      float64 // of A and B together
	Products Noise   // of A's entries above the diagonal
	Squares  Noise   // of A's entries on the diagonal
	Cross    Noise   // of B's entries
}

// NewRidge returns the noise with which A and B together have the guarantee. It returns an error if g or s is out of range.
func NewRidge(g Guarantee, s Shape) (Ridge, error) { return Ridge{}, errUnfinished }

// Draw sets outer and cross to one summand's noise: outer is the upper triangle of A, row after row, with
// M(M+1)/2 entries, cross is B with M c entries in any order. Random is as in [Noise.Draw].
func (r Ridge) Draw(outer, cross []int64, random io.Reader) error { return errUnfinished }

// Alpha returns the ridge in units of A: 1.25 x 2 sqrt(M) x the standard deviation of the noise of all
// summands above the diagonal, or more for small M: [Ridge.Norm] is at most .9 of it. It depends on public numbers
// alone. So A + Alpha I has only eigenvalues of at least .1 Alpha, but for a probability of [NormFailure].
func (r Ridge) Alpha() int64 { return 0 }

// Norm returns a number in units of A that the largest magnitude of an eigenvalue of A's noise exceeds with a probability of
// at most [NormFailure]. So the noisy A + Norm I has its spectrum in [0, n SquaredFeatures + 2 Norm], the interval
// for a Chebyshev polynomial, and (A + Alpha I) = (A + Norm I) + (Alpha - Norm) I.
func (r Ridge) Norm() int64 { return 0 }

// NormFailure bounds the probability that noise exceeds [Ridge.Norm].
const NormFailure = 1. / (1 << 20)

// NormBound returns a number that the largest magnitude of an eigenvalue of a random symmetric matrix exceeds with
// at most the probability failure. Entries above the diagonal have variance 1 and those on it 2, all are independent and
// Gaussian.
func NormBound(features int, failure float64) float64 { return 0 }
