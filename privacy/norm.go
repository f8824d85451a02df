package privacy

import (
	"math"

	"github.com/mercer-fl/mercer/internal/crypto/exactmath"
)

// NormFailure is the probability with which noise may exceed [NormBound].
const NormFailure = 1. / (1 << 20)

// NormBound returns a number that the magnitudes of all eigenvalues of a random symmetric matrix of the given size, at most
// [MostFeatures], exceed together with at most the probability [NormFailure]. Its entries are independent Gaussians, of variance 1 above the
// diagonal and 2 on it: the Gaussian orthogonal ensemble. It is
//
//	2 sqrt(M) + 6.6 M^(-1/6)
//
// where 6.6 is more than the quantile of the Tracy-Widom distribution (Tracy and Widom, "On orthogonal and symplectic matrix ensembles", 1996). A test
// integrates the exact density of the eigenvalues, which exceeds the bound less often for every size. Discrete Gaussians of the variances
// that occur have the same moments, but for less than exp(-2 pi^2 variance).
func NormBound(features int) float64 {
	m := float64(features)
	return 2*math.Sqrt(m) + float64(6.6*exactmath.ExpNegative(exactmath.Log(m)/6))
}
