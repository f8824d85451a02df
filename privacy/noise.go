package privacy

import (
	"fmt"
	"io"
	"math"
	"math/big"

	"github.com/mercer-fl/mercer/internal/crypto/exactmath"
)

// Summands says who adds noise to a sum. Each of All members adds independent numbers of equal variance. At
// least Honest of them add what they should, and those who read the sum do not know these numbers: the noise
// of Honest members alone gives the guarantee. A member that reads the sum knows its own noise, and is not
// among them.
type Summands struct{ Honest, All int }

// MostSummands is the greatest number of members who add noise.
const MostSummands = 1 << 16

// Check returns an error unless 1 <= Honest <= All <= MostSummands.
func (s Summands) Check() error {
	if s.Honest < 1 || s.All < s.Honest || s.All > MostSummands {
		return fmt.Errorf("privacy: %d of %d members add noise as they should; use at least one, and at most %d in all", s.Honest, s.All, MostSummands)
	}
	return nil
}

// Noise is the noise of one member for the words of a sum. Its numbers are independent discrete Gaussians.
type Noise struct {
	Variance *big.Int // variance of one member's number for one word, in squared units of the words
	Summands Summands
}

// NewNoise returns noise with which a sum of whole-numbered vectors is rho-zCDP. One person changes
// the sum by a vector whose squared Euclidean length is at most squaredSensitivity and whose number of
// entries is words.
//
// The sum of Honest discrete Gaussians of variance v is no discrete Gaussian. It is accounted by Kairouz, Liu
// and Steinke, "The distributed discrete Gaussian mechanism for federated learning with secure aggregation",
// ICML 2021, proposition 14 of arXiv 2102.06387:
//
//	rho = squaredSensitivity / (2 Honest v) + tau words
//	tau = 10 times the sum over k = 1 ... Honest-1 of exp(-2 pi^2 v k/(k+1))
//
// With v = 4, tau is below 10^-16 for two members and 10^-15 for a thousand. So a millionth of rho pays for the
// correction (tau times words), and v is at least so large that this suffices. The rest of rho pays for the
// first summand.
//
// NewNoise returns an error if an argument is out of range or v is not below 2^100. All machines compute the same v.
func NewNoise(rho float64, squaredSensitivity *big.Int, words int, s Summands) (Noise, error) {
	if err := s.Check(); err != nil {
		return Noise{}, err
	}
	if !(rho > 0 && rho <= MostRho) || squaredSensitivity.Sign() <= 0 || words < 1 {
		return Noise{}, fmt.Errorf("privacy: rho is %v, the squared sensitivity is %v and there are %d words; all must be above 0, and rho at most %v", rho, squaredSensitivity, words, float64(MostRho))
	}
	least := int64(1)
	for correction(float64(least), s.Honest) > rho*correctionShare/float64(words) {
		least *= 2
	}
	variance := quotientUp(squaredSensitivity, rho*(1-correctionShare), int64(2*s.Honest))
	if variance.Cmp(big.NewInt(least)) < 0 {
		variance.SetInt64(least)
	}
	if variance.BitLen() > mostVarianceBits {
		return Noise{}, fmt.Errorf("privacy: the noise needs a variance of %v, which is not below 2^%d; use a larger epsilon or a coarser grid", variance, mostVarianceBits)
	}
	return Noise{variance, s}, nil
}

// correctionShare is the part of rho that pays for the difference of a sum from a discrete Gaussian.
const correctionShare = 1. / (1 << 20)

// correction returns the tau of [NewNoise].
func correction(variance float64, summands int) float64 {
	sum := 0.0
	for k := 1; k < summands; k++ {
		sum += exactmath.ExpNegative(float64(2*math.Pi*math.Pi*variance) * float64(k) / float64(k+1))
	}
	return 10 * sum
}

// quotientUp returns the least whole number that is at least x / (by times), for positive arguments.
func quotientUp(x *big.Int, by float64, times int64) *big.Int {
	divisor := new(big.Rat).SetFloat64(by)
	divisor.Mul(divisor, new(big.Rat).SetInt64(times))
	q := new(big.Rat).Quo(new(big.Rat).SetInt(x), divisor)
	up := new(big.Int).Add(q.Num(), q.Denom())
	return up.Sub(up, big.NewInt(1)).Quo(up, q.Denom())
}

// Draw sets dst to one member's noise. random returns uniform bytes, as a stream from the session's seed
// does: equal bytes give equal noise. With the variance of [NewNoise] it returns an error only if random does. Its
// time is not constant: see [Gaussian].
func (n Noise) Draw(dst []int64, random io.Reader) error {
	g, err := NewGaussian(new(big.Rat).SetInt(n.Variance))
	if err != nil {
		return err
	}
	d := drawing{Gaussian: g, source: source{from: random}}
	for i := range dst {
		if dst[i], err = d.next(); err != nil {
			return err
		}
	}
	return nil
}

// Deviation returns the standard deviation of the noise of all members in one word, in units of the words.
func (n Noise) Deviation() float64 {
	v, _ := new(big.Float).SetInt(n.Variance).Float64()
	return math.Sqrt(v * float64(n.Summands.All))
}
