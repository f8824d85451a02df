package privacy

import (
	"encoding/binary"
	"io"
	"math/big"
	"math/bits"
)

// source draws from uniform bytes. After an error of its reader all its results are meaningless, and every loop over
// them must end.
type source struct {
	from io.Reader
	err  error
	word [8]byte
	wide []byte // a buffer for belowWide
}

func (s *source) uint64() uint64 {
	if _, err := io.ReadFull(s.from, s.word[:]); err != nil && s.err == nil {
		s.err = err
	}
	return binary.LittleEndian.Uint64(s.word[:])
}

// below returns a uniform number below n > 0. It multiplies and rejects (Lemire, arXiv 1805.10941).
func (s *source) below(n uint64) uint64 {
	if n == 1 {
		return 0
	}
	hi, lo := bits.Mul64(s.uint64(), n)
	if lo < n {
		for least := -n % n; lo < least && s.err == nil; {
			hi, lo = bits.Mul64(s.uint64(), n)
		}
	}
	return hi
}

// belowWide sets x to a uniform number below n > 0. It draws as many bits as n has and rejects what is too large.
func (s *source) belowWide(x, n *big.Int) {
	size := n.BitLen()
	if need := (size + 7) / 8; len(s.wide) != need {
		s.wide = make([]byte, need)
	}
	for s.err == nil {
		if _, err := io.ReadFull(s.from, s.wide); err != nil {
			s.err = err
			return
		}
		s.wide[0] >>= uint(8*len(s.wide) - size)
		if x.SetBytes(s.wide); x.Cmp(n) < 0 {
			return
		}
	}
}

// decays returns true with the probability exp(-p), where p is the probability of a trial (Canonne, Kamath and Steinke 2020,
// algorithm 1, for p up to 1). Their trial of probability p/k is one of p and one of 1/k.
func (s *source) decays(trial func() bool) bool {
	k := uint64(1)
	for s.err == nil && trial() && s.below(k) == 0 {
		k++
	}
	return k%2 == 1
}

func certain() bool { return true }

// geometric returns n with the probability exp(-n) (1 - exp(-1)).
func (s *source) geometric() (n uint64) {
	for s.err == nil && s.decays(certain) {
		n++
	}
	return n
}

// laplace returns a discrete Laplace number, with a probability in proportion to exp(-|x|/t), as its magnitude and sign (Canonne,
// Kamath and Steinke 2020, algorithm 2, with s = 1).
func (s *source) laplace(t uint64) (magnitude uint64, negative bool) {
	for s.err == nil {
		rest := s.below(t)
		if !s.decays(func() bool { return s.below(t) < rest }) {
			continue
		}
		hi, lo := bits.Mul64(s.geometric(), t)
		sum, carry := bits.Add64(lo, rest, 0)
		negative = s.uint64()&1 == 1
		if hi+carry == 0 && sum <= most && !(negative && sum == 0) {
			return sum, negative
		}
	}
	return 0, false
}

// most is the largest magnitude of a drawn number. With scales up to 2^50 + 1 a larger one has a probability below exp(-8000).
const most = 1<<63 - 1
