package dataset

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// stream draws what splits and partitions need. Only the PCG generator is taken
// from the library, since it is a fixed algorithm; what the library makes of it
// (Shuffle, IntN, NormFloat64) may change with the Go version.
type stream struct{ source *rand.PCG }

// Each use of a seed has a stream of its own, so that the split says nothing
// about the partition drawn with the same seed.
const (
	streamSplit uint64 = iota + 1
	streamFolds
	streamRows
	streamCover // and those above, for each party one
)

func newStream(seed, use uint64) *stream { return &stream{source: rand.NewPCG(seed, use)} }

// below returns a uniform integer in [0, n), n > 0, without bias (Lemire, "Fast
// random integer generation in an interval", algorithm 5).
func (s *stream) below(n int) int {
	bound := uint64(n)
	hi, lo := bits.Mul64(s.source.Uint64(), bound)
	for threshold := -bound % bound; lo < threshold; {
		hi, lo = bits.Mul64(s.source.Uint64(), bound)
	}
	return int(hi)
}

// shuffle is Fisher and Yates' permutation in place.
func (s *stream) shuffle(rows []int) {
	for i := len(rows) - 1; i > 0; i-- {
		j := s.below(i + 1)
		rows[i], rows[j] = rows[j], rows[i]
	}
}

// permutation returns 0 to n-1 in random order.
func (s *stream) permutation(n int) []int {
	rows := indices(n)
	s.shuffle(rows)
	return rows
}

func indices(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// uniform returns a number in the open interval (0, 1).
func (s *stream) uniform() float64 {
	return (float64(s.source.Uint64()>>11) + 0.5) / (1 << 53)
}

// normal returns a standard normal number by Marsaglia's polar method.
func (s *stream) normal() float64 {
	for {
		u, v := 2*s.uniform()-1, 2*s.uniform()-1
		if r := float64(u*u) + float64(v*v); r > 0 && r < 1 {
			return u * math.Sqrt(-2*math.Log(r)/r)
		}
	}
}

// logGamma returns the logarithm of a Gamma(alpha, 1) number (Marsaglia and
// Tsang, "A simple method for generating gamma variables", sections 2 and 6).
// The logarithm, because for small alpha the number itself underflows.
func (s *stream) logGamma(alpha float64) float64 {
	if alpha < 1 {
		return s.logGamma(alpha+1) + math.Log(s.uniform())/alpha
	}
	d := alpha - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.normal()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v = v * v * v
		if math.Log(s.uniform()) < x*x/2+d-d*v+d*math.Log(v) {
			return math.Log(d * v)
		}
	}
}

// dirichlet returns n shares that sum to 1, from Dirichlet(alpha, ..., alpha).
// Last bits of math.Log may differ between processors: they could move a row
// only where a proportion of a class falls that close to a half row.
func (s *stream) dirichlet(n int, alpha float64) []float64 {
	shares := make([]float64, n)
	top := math.Inf(-1)
	for i := range shares {
		shares[i] = s.logGamma(alpha)
		top = max(top, shares[i])
	}
	sum := 0.0
	for i, g := range shares {
		shares[i] = math.Exp(g - top)
		sum += shares[i]
	}
	for i := range shares {
		shares[i] /= sum
	}
	return shares
}
