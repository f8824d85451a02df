package sealed

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// finestUnit is the base-2 logarithm of the finest unit of a certificate's sums; the unit is in rows.
const finestUnit = -16

// Certificate judges opened weights W by the parties' own sums, without keepers or shares. The residual of the
// package's comment is R = sum of R_p with R_p = 2^s B_p - A_p W - alpha_p W, where the parties' alpha_p add up to
// alpha. Each party computes [CheckSums] sums of the words of R_p with coins from {-1, 0, 0, 1}, which follow from the
// hash of W, and rounds them at random to whole units. Whoever adds up all parties' summands has the sums of R.
//
// Honest weights exceed the tolerance with a probability of less than 2^-28, as in the check. A word of R above twice
// the tolerance and roundings fails with a probability of 1 - 2^-40 (the proof of TestOneWord), for each W that a liar
// tries. The certificate finds faults. It also finds a false W of two lying keepers, if these are no parties or
// contribute honest summands. A party that knows all sums can make up for a false W in its own summands
// (TestTwoKeepersWithRowsMakeUp): that W is the model of sums that this party could have shared. The certificate names
// nobody, because a false summand looks like a false W.
type Certificate struct {
	problem Problem
	parties int
	bounds  Bounds
	drop    uint // number of the residual's bits below a unit
}

// NewCertificate returns the certificate of a problem for a number of parties. It returns an error if the problem fails
// its check, or if there is no party.
func NewCertificate(p Problem, parties int) (Certificate, error) {
	if parties < 1 {
		return Certificate{}, errors.New("sealed: a certificate needs a party")
	}
	b, err := p.Bounds()
	if err != nil {
		return Certificate{}, err
	}
	c := Certificate{problem: p, parties: parties, bounds: b}
	finest := c.fraction() + finestUnit
	c.drop = uint(max(bits.Len64(b.ResidualUnits/uint64(parties))-1, finest, 0))
	return c, nil
}

// fraction returns the fraction bits of the residual.
func (c Certificate) fraction() int { return 2*c.problem.CellBits() + int(c.problem.WeightBits()) }

// Unit returns the unit of the sums, in rows. It is the largest power of two that is at most the check's bound of R
// divided by the number of parties, or 2^-16 if that is larger.
func (c Certificate) Unit() float64 { return math.Ldexp(1, int(c.drop)-c.fraction()) }

// Tolerance returns the largest size of an honest sum, in units: the bound of R, and less than one unit for the
// rounding of each party.
func (c Certificate) Tolerance() int64 {
	return int64(c.bounds.ResidualUnits>>c.drop) + 1 + int64(c.parties)
}

// Most returns a power of two that no summand exceeds, in units. It follows from three bounds: the eigenvalues of a
// party's A are at most N, the norm of its B is at most N, and the norm of W is at most omega. Summands checks the
// last.
func (c Certificate) Most() int64 {
	n, words := float64(c.problem.Bound()), math.Sqrt(float64(c.problem.Features)*float64(c.problem.Targets))
	norm := float64(n * (1 + float64(2*c.bounds.Weights)))
	_, exponent := math.Frexp(float64(norm*words) / c.Unit())
	return 1 << exponent
}

// ErrLargeWeights says that the weights are larger than those of any rows, so that they have no summands.
var ErrLargeWeights = errors.New("sealed: the opened weights are larger than any rows make them")

// Summands returns the party's [CheckSums] summands in units. Weights are targets x features. index is the party's
// place among the parties. seed is the party's secret for this certificate: it decides the roundings. It returns
// [ErrLargeWeights] if the norm of the weights is above omega, and another error if weights or sums have other shapes,
// or if a sum or a summand is larger than any rows make it.
func (c Certificate) Summands(weights linalg.Matrix[float64], own *Sums, index int, seed [32]byte) ([]int64, error) {
	p := c.problem
	if weights.Rows != p.Targets || weights.Cols != p.Features {
		return nil, fmt.Errorf("sealed: there are %d x %d weights; the problem has %d targets and %d features", weights.Rows, weights.Cols, p.Targets, p.Features)
	}
	if err := p.checkSums(own.Outer, own.Cross); err != nil {
		return nil, err
	}
	w, err := c.words(weights)
	if err != nil {
		return nil, err
	}
	list, stream := make([]int64, CheckSums), prg.New(seed, "mercer/v1/sealed/certificate", nil)
	for j, sum := range (coins{seedOf(w), len(w.Data)}).sums(c.residual(w, own, index)) {
		var fits bool
		if list[j], fits = sum.Add(c.dither(stream)).Rsh(c.drop).Int64(); !fits {
			return nil, errors.New("sealed: a summand of the certificate is larger than any rows make it")
		}
	}
	return list, nil
}

// words returns the weights in whole units of 2^-[Problem.WeightBits]. Opened weights are multiples of this unit, so
// nothing is rounded. It returns [ErrLargeWeights] if the norm of the weights is above omega.
func (c Certificate) words(weights linalg.Matrix[float64]) (ring128.Matrix, error) {
	w, norm := ring128.New(weights.Rows, weights.Cols), 0.
	for i, v := range weights.Data {
		norm += v * v
		word, err := ring128.FromFloat(v, c.problem.WeightBits())
		if err != nil {
			return w, ErrLargeWeights
		}
		w.Data[i] = word
	}
	if !(norm <= c.bounds.Weights*c.bounds.Weights) {
		return w, ErrLargeWeights
	}
	return w, nil
}

// seedOf returns the seed of the coins: a hash of the weights.
func seedOf(weights ring128.Matrix) [32]byte {
	var w wire.Writer
	w.String("mercer/v1/sealed/certificate")
	w.Fixed(ring128.Append(nil, weights.Data))
	return sha256.Sum256(w.Bytes())
}

// residual returns the words of the party's part of R.
func (c Certificate) residual(w ring128.Matrix, own *Sums, index int) []ring128.Word {
	p, words := c.problem, ring128.FromInts(own.Cross)
	ring128.Lsh(words, p.WeightBits())
	product := ring128.New(p.Targets, p.Features)
	ring128.AddMulTransB(product, w, ring128.Symmetric(p.Features, ring128.FromInts(own.Outer)))
	ring128.AddScaled(product.Data, ring128.FromInt64(c.ridge(index)), w.Data)
	ring128.Sub(words, product.Data)
	return words
}

// ridge returns the party's part of alpha. The parts are equal, but the first ones share the remainder, one unit each.
func (c Certificate) ridge(index int) int64 {
	part, rest := c.problem.Ridge/int64(c.parties), c.problem.Ridge%int64(c.parties)
	if int64(index) < rest {
		part++
	}
	return part
}

// dither returns a random number from 0 to just below a unit, each equally likely. Summands adds it to a sum before it
// drops the bits below a unit. So the sum is rounded up with the probability that these bits state, and the rounded sum
// reveals nothing finer than that.
func (c Certificate) dither(stream *prg.Stream) ring128.Word {
	return ring128.Word{Lo: stream.Uint64() & (1<<c.drop - 1)}
}

// Largest returns the largest of the sums of all parties' summands in size, and whether the certificate holds: whether
// there are [CheckSums] and none exceeds the tolerance.
func (c Certificate) Largest(sums []int64) (largest int64, holds bool) {
	most := c.Tolerance()
	holds = len(sums) == CheckSums
	for _, d := range sums {
		if d < 0 {
			d = -d
		}
		largest, holds = max(largest, d), holds && d >= 0 && d <= most
	}
	return largest, holds
}
