package privacy

import (
	"fmt"
	"io"
	"math"
	"math/big"
)

// Gaussian draws from the discrete Gaussian distribution: the whole number x has a probability in
// proportion to exp(-x^2 / (2 variance)). Its algorithm is exact (Canonne, Kamath and Steinke, "The
// discrete Gaussian for differential privacy", NeurIPS 2020, algorithms 1 to 3): it compares uniform
// whole numbers with whole numbers. The probability of magnitudes of 2^63 and more, which are drawn
// again, is below exp(-2^24).
//
// The time of a draw is not constant. It depends on numbers that are drawn and rejected and, weakly, on the
// magnitude of the result, never on the sums to which the result is added. Whoever could time a single draw
// would learn a little of its noise (Jin, McMurtry, Rubinstein and Ohrimenko, "Are we there yet? Timing and
// floating-point attacks on differential privacy systems", S&P 2022). So draw all noise of a message before
// anything is sent: then only the sum of the times of thousands of draws can be seen.
type Gaussian struct {
	scale           uint64   // t of algorithm 3: floor(deviation) + 1
	stretch, centre *big.Int // t q and p, where the variance is p/q
	bound           *big.Int // 2 p q t^2
}

// mostVarianceBits bounds variances and their denominators: both are at most 2^mostVarianceBits.
const mostVarianceBits = 100

// NewGaussian returns the distribution with the given parameter variance. The variance is a fraction above 0
// and up to 2^100 whose denominator is at most 2^100. The variance of the distribution itself is never larger
// (Canonne, Kamath and Steinke 2020, corollary 9). From a parameter of 1 on it is smaller by less than 10^-6 of it.
func NewGaussian(variance *big.Rat) (*Gaussian, error) {
	p, q := variance.Num(), variance.Denom()
	limit := new(big.Int).Lsh(big.NewInt(1), mostVarianceBits)
	if p.Sign() <= 0 || q.Cmp(limit) > 0 || variance.Cmp(new(big.Rat).SetInt(limit)) > 0 {
		return nil, fmt.Errorf("privacy: the variance is %s; use a fraction above 0 and up to 2^%d, with a denominator up to 2^%d", variance.RatString(), mostVarianceBits, mostVarianceBits)
	}
	t := new(big.Int).Quo(p, q)
	t.Sqrt(t).Add(t, big.NewInt(1))
	g := &Gaussian{scale: t.Uint64(), stretch: new(big.Int).Mul(t, q), centre: new(big.Int).Set(p)}
	g.bound = new(big.Int).Mul(g.stretch, t)
	g.bound.Mul(g.bound, p).Lsh(g.bound, 1)
	return g, nil
}

// Draw returns one number. random returns uniform bytes: then the number has exactly the distribution. Draw
// reads one byte to a few dozen at a time, no more than it needs, and equal bytes give equal numbers. It
// returns an error if random does.
func (g *Gaussian) Draw(random io.Reader) (int64, error) {
	d := drawing{Gaussian: g, source: source{from: random}}
	return d.next()
}

// drawing draws from a source, and keeps its large numbers from one draw to the next.
type drawing struct {
	*Gaussian
	source
	distance, whole, drawn big.Int
}

// next accepts a Laplace number y with the probability exp(-(|y| - v/t)^2 / (2 v)) for the variance v = p/q
// (algorithm 3). The exponent is (|y| t q - p)^2 / (2 p q t^2).
func (d *drawing) next() (int64, error) {
	for d.err == nil {
		magnitude, negative := d.laplace(d.scale)
		d.distance.SetUint64(magnitude)
		d.distance.Mul(&d.distance, d.stretch).Sub(&d.distance, d.centre)
		d.distance.Mul(&d.distance, &d.distance)
		accepted := d.accepts()
		switch {
		case d.err != nil || !accepted:
			continue
		case negative:
			return -int64(magnitude), nil
		}
		return int64(magnitude), nil
	}
	return 0, fmt.Errorf("privacy: the source of random bytes failed: %w", d.err)
}

// accepts returns true with the probability exp(-distance/bound): the exponent's whole part by so many trials
// of exp(-1), and its fraction by one (algorithm 1).
func (d *drawing) accepts() bool {
	if d.distance.Cmp(d.bound) >= 0 {
		d.whole.QuoRem(&d.distance, d.bound, &d.distance)
		trials := uint64(math.MaxUint64) // of more, the first already fail
		if d.whole.IsUint64() {
			trials = d.whole.Uint64()
		}
		for range trials {
			if d.err != nil || !d.decays(certain) {
				return false
			}
		}
	}
	return d.decays(func() bool {
		d.belowWide(&d.drawn, d.bound)
		return d.drawn.Cmp(&d.distance) < 0
	})
}
