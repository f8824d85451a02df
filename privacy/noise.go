package privacy

import (
	"io"
	"math/big"
)

// Summands says who adds noise to one sum. Each of All members adds an independent number of equal
// variance. Honest of them, at least, do so as they should and are unknown to those who read the sum: their
// noise alone gives the guarantee.
type Summands struct{ Honest, All int }

// Noise is the noise of one summand for the words of a sum of vectors.
type Noise struct {
	Variance *big.Int // of one summand's number for one word, in squared units of the words
	Summands Summands
}

// NewNoise returns the least noise with which the sum is rho-zCDP, accounted as a sum of Honest discrete
// Gaussians by Kairouz, Liu and Steinke, "The distributed discrete Gaussian mechanism for federated
// learning with secure aggregation", ICML 2021, proposition 14. One person changes the sum by
// a vector of whole numbers whose squared Euclidean length is at most squaredSensitivity; words is the
// length of the vector. It returns an error if the variance would exceed 2^100.
func NewNoise(rho float64, squaredSensitivity *big.Int, words int, s Summands) (Noise, error) {
	return Noise{}, errUnfinished
}

// Draw sets dst to one summand's noise. It reads from random, which returns uniform bytes, more than it uses: use a
// stream for nothing else. Equal bytes give equal noise. It returns an error only if random does.
func (n Noise) Draw(dst []int64, random io.Reader) error { return errUnfinished }

// Deviation returns the standard deviation of the noise of all summands in one word, in units of the words.
func (n Noise) Deviation() float64 { return 0 }
