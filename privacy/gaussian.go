package privacy

import (
	"io"
	"math/big"
)

// Gaussian draws from the discrete Gaussian distribution: the whole number x has a probability in
// proportion to exp(-x^2 / (2 variance)).
type Gaussian struct{}

// NewGaussian returns the distribution with the given parameter variance, above 0 and up to 2^100. (The
// distribution's own variance is never larger, and equal but for less than 10^-7 from variance 1 on.)
func NewGaussian(variance *big.Rat) (*Gaussian, error) { return &Gaussian{}, nil }

// Draw returns one number, drawn exactly from the distribution if random returns uniform bytes, by
// whole-number arithmetic alone. It returns an error only if random does. Equal bytes give equal numbers.
func (g *Gaussian) Draw(random io.Reader) (int64, error) { return 0, errUnfinished }
