package privacy

import (
	"fmt"
	"io"
	"math"
	"math/big"

	"github.com/mercer-fl/mercer/internal/crypto/exactmath"
)

// Shape describes the sums A = sum of phi phi^T and B = sum of phi y^T over rows. Entries of phi and y are
// whole numbers of some units. The unit of A is the square of phi's, and that of B the product of both.
type Shape struct {
	Features int // M: the length of phi
	Targets  int // c: the length of y
	// SquaredFeatures and SquaredTargets are the greatest squared Euclidean lengths of one row's phi and y,
	// after rounding, in squared units: see [Nearest] and [TowardsZero].
	SquaredFeatures, SquaredTargets int64
	Summands                        Summands
}

// These are the limits of a [Shape].
const (
	MostFeatures = 4096
	MostTargets  = 256
	MostSquared  = 1 << 48
)

// Check returns an error if a number is out of range.
func (s Shape) Check() error {
	switch {
	case s.Features < 1 || s.Features > MostFeatures || s.Targets < 1 || s.Targets > MostTargets:
		return fmt.Errorf("privacy: there are %d features and %d targets; use 1 to %d features and 1 to %d targets", s.Features, s.Targets, MostFeatures, MostTargets)
	case s.SquaredFeatures < 1 || s.SquaredFeatures > MostSquared || s.SquaredTargets < 1 || s.SquaredTargets > MostSquared:
		return fmt.Errorf("privacy: the squared lengths of features and targets are up to %d and %d units; use 1 to 2^48", s.SquaredFeatures, s.SquaredTargets)
	}
	return s.Summands.Check()
}

// triangle returns the number of entries in the upper triangle of A.
func (s Shape) triangle() int { return s.Features * (s.Features + 1) / 2 }

// Nearest returns the greatest squared length, in squared units of 2^-fraction, of a vector of the given
// greatest length and number of entries after each entry is rounded to the nearest unit: each moves by half a
// unit at most. It allows for rounding errors of 10^-12 of the length. fraction is at most 40.
func Nearest(length float64, fraction, entries int) int64 {
	return squared(float64(math.Ldexp(length, fraction)*(1+tiny)) + math.Sqrt(float64(entries))/2)
}

// TowardsZero is like [Nearest] for entries that are rounded towards zero, which lengthens no vector.
func TowardsZero(length float64, fraction int) int64 {
	return squared(float64(math.Ldexp(length, fraction) * (1 + tiny)))
}

// tiny is more than the relative errors of computed lengths and squares.
const tiny = 1e-12

// squared returns the squared length in whole units, or more than Check allows.
func squared(length float64) int64 {
	return int64(min(float64(length*length)*(1+tiny), 2*MostSquared))
}

// Ridge is the noise for one release of A and B, from which a ridge regression (A + alpha I)^-1 B is
// computed. Of rho, .8 pays for A and .2 for B.
//
// Entries of A on the diagonal get twice the variance of those above it. So weighted, one row changes the
// upper triangle by the same length for every phi of a given length:
//
//	sum over i < j of (phi_i phi_j)^2 + sum over i of phi_i^4 / 2 = |phi|^4 / 2
//
// With equal variances the left side would be (|phi|^4 + sum of phi_i^4) / 2, which is up to twice as much:
// it is nearly as small only for many features of equal size. As a symmetric matrix, A's noise is a Gaussian orthogonal
// ensemble, whose largest eigenvalue is known. B changes by |phi| |y|.
type Ridge struct {
	Shape    Shape
	Products Noise // of A's entries above the diagonal
	Squares  Noise // of A's entries on the diagonal
	Cross    Noise // of B's entries
}

// outerShare is the part of rho that pays for A.
const outerShare = .8

// Replacement multiplies the rho of a [Ridge] if it must also stay hidden whether one row was
// replaced by another one. With c = phi.psi of the two rows' phi and psi of length 1, A changes by up to
// sqrt(2 - 2 c^2) times as much as by leaving out a row, at most sqrt 2, and B by up to sqrt(2 + 2 |c|) times, at most
// 2. The worst c for both is 1/8. [Epsilon] converts the product.
const Replacement = 2 + (1-outerShare)*(1-outerShare)/(2*outerShare)

// NewRidge returns the noise with which A and B together have a guarantee. It returns an error if an argument
// is out of range, or the noise too large for its grid. All machines compute the same noise.
func NewRidge(g Guarantee, s Shape) (Ridge, error) {
	if err := g.Check(); err != nil {
		return Ridge{}, err
	}
	if err := s.Check(); err != nil {
		return Ridge{}, err
	}
	rho, features := g.Rho(), big.NewInt(s.SquaredFeatures)
	half := new(big.Int).Mul(features, features)
	half.Add(half, big.NewInt(1)).Rsh(half, 1)
	products, err := NewNoise(rho*outerShare, half, s.triangle(), s.Summands)
	if err != nil {
		return Ridge{}, err
	}
	cross, err := NewNoise(rho*(1-outerShare), features.Mul(features, big.NewInt(s.SquaredTargets)), s.Features*s.Targets, s.Summands)
	if err != nil {
		return Ridge{}, err
	}
	squares := Noise{new(big.Int).Lsh(products.Variance, 1), s.Summands}
	r := Ridge{s, products, squares, cross}
	if r.alpha() > 1<<60 || squares.Variance.BitLen() > mostVarianceBits {
		return Ridge{}, fmt.Errorf("privacy: the ridge would be %g units of the sums; use a larger epsilon or a coarser grid", r.alpha())
	}
	return r, nil
}

// Draw sets outer and cross to one member's noise. outer is the upper triangle of A, row after row, with
// M(M+1)/2 entries; cross is B with M c entries. random is that of [Noise.Draw]. It returns an error if a
// length is wrong or random fails.
func (r Ridge) Draw(outer, cross []int64, random io.Reader) error {
	m := r.Shape.Features
	if len(outer) != r.Shape.triangle() || len(cross) != m*r.Shape.Targets {
		return fmt.Errorf("privacy: the noise is for %d entries of A and %d of B; %d features and %d targets require %d and %d", len(outer), len(cross), m, r.Shape.Targets, r.Shape.triangle(), m*r.Shape.Targets)
	}
	if err := r.Products.Draw(outer, random); err != nil {
		return err
	}
	diagonal := make([]int64, m)
	if err := r.Squares.Draw(diagonal, random); err != nil {
		return err
	}
	at := 0
	for i, v := range diagonal {
		outer[at] = v
		at += m - i
	}
	return r.Cross.Draw(cross, random)
}

// Alpha returns the ridge of the regression in units of A, a whole number: 1.25 times 2 sqrt(M) times the
// deviation of the noise of all members above the diagonal. [Ridge.Norm] is at most nine tenths of that; for
// fewer than 136 features Alpha is larger, so that this still holds. The ridge depends on public numbers alone.
// So the eigenvalues of the noisy A + Alpha I are at least a tenth of Alpha, except with a probability of at
// most [NormFailure].
//
// 2 sqrt(M) is the largest eigenvalue of such noise for large M, and so the ridge of AdaSSP (Wang,
// "Revisiting differentially private linear regression", UAI 2018) for sums whose least eigenvalue is 0. Its
// release of that eigenvalue is not needed here.
func (r Ridge) Alpha() int64 { return int64(math.Ceil(r.alpha())) }

func (r Ridge) alpha() float64 {
	m := float64(r.Shape.Features)
	return r.Products.Deviation() * max(2.5*math.Sqrt(m), NormBound(r.Shape.Features)/.9)
}

// Norm returns a whole number in units of A that bounds the magnitudes of the eigenvalues of all members' noise
// of A together, except with a probability of at most [NormFailure]. So the noisy A + Norm I has its
// spectrum in the public interval from 0 to n SquaredFeatures + 2 Norm for n rows: a Chebyshev polynomial for
// it, with the ridge Alpha - Norm, solves the regression with the ridge Alpha.
func (r Ridge) Norm() int64 {
	return int64(math.Ceil(float64(r.Products.Deviation() * NormBound(r.Shape.Features))))
}

// NormFailure bounds the probability with which noise exceeds [NormBound].
const NormFailure = 1. / (1 << 20)

// NormBound returns a number that bounds the magnitudes of all eigenvalues of a random symmetric matrix, except
// with a probability of at most [NormFailure]. The matrix has M = features rows, at most [MostFeatures]. Its
// entries are independent Gaussians, of variance 1 above the diagonal and 2 on it: the Gaussian orthogonal
// ensemble. The bound is
//
//	2 sqrt(M) + 6.6 M^(-1/6)
//
// where 6.6 is more than the quantile of the Tracy-Widom distribution (Tracy and Widom, "On orthogonal and
// symplectic matrix ensembles", 1996). A test integrates the exact density of the eigenvalues: at every size
// they exceed the bound less often than [NormFailure]. The noise is discrete Gaussians, whose moments differ from
// those of Gaussians by a share of less than exp(-2 pi^2 variance).
func NormBound(features int) float64 {
	m := float64(features)
	return 2*math.Sqrt(m) + float64(6.6*exactmath.ExpNegative(exactmath.Log(m)/6))
}
