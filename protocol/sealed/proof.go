package sealed

import (
	"encoding/binary"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
	"github.com/mercer-fl/mercer/protocol/internal/ring192"
)

// holding holds one part of A, of B and of W, as a keeper has it.
type holding struct {
	matrix  ring128.Matrix // of A, symmetric
	cross   []ring128.Word // of B, as targets x features
	weights []ring128.Word // of W, likewise
}

// crossTerm is the sum of products of two parts in (A + alpha) W that one keeper knows alone, the prover. It proves the
// 40 sums of its words: M_j = -<r_j, X_known W_other + X_other W_known>. See the package's comment.
type crossTerm struct {
	prover, checker, helper role
	known, other            part // the checker has the known part, the helper the other one
}

// crossTerms holds the term of each keeper.
var crossTerms = [...]crossTerm{
	{serverA, serverB, dealerC, masked, maskA},
	{serverB, serverA, dealerC, masked, maskB},
	{dealerC, serverA, serverB, maskA, maskB},
}

// coins are the coefficients -1, 0, 0 and 1 of the sums: n for each sum.
type coins struct {
	seed [32]byte
	n    int
}

// of returns the coefficients of sum j. A coin is the difference of two bits.
func (c coins) of(j int) []int8 {
	list, stream, bits := make([]int8, c.n), prg.New(c.seed, "mercer/v1/sealed/coins", binary.LittleEndian.AppendUint32(nil, uint32(j))), uint64(0)
	for i := range list {
		if i%32 == 0 {
			bits = stream.Uint64()
		}
		list[i] = int8(bits&1) - int8(bits>>1&1)
		bits >>= 2
	}
	return list
}

// sum returns sum j of words.
func (c coins) sum(j int, words []ring128.Word) (sum ring128.Word) {
	for i, coin := range c.of(j) {
		switch coin {
		case 1:
			sum = sum.Add(words[i])
		case -1:
			sum = sum.Sub(words[i])
		}
	}
	return sum
}

// sums returns all sums of words.
func (c coins) sums(words []ring128.Word) (sums [CheckSums]ring128.Word) {
	for j := range sums {
		sums[j] = c.sum(j, words)
	}
	return sums
}

// wideSum returns sum j of words modulo 2^192.
func (c coins) wideSum(j int, words []ring192.Word) (sum ring192.Word) {
	for i, coin := range c.of(j) {
		switch coin {
		case 1:
			sum = sum.Add(words[i])
		case -1:
			sum = sum.Sub(words[i])
		}
	}
	return sum
}

// addTo adds the coefficients of sum j, times its challenge, to total.
func (c coins) addTo(total []ring192.Word, j int, rho ring192.Word) {
	for i, coin := range c.of(j) {
		switch coin {
		case 1:
			total[i] = total[i].Add(rho)
		case -1:
			total[i] = total[i].Sub(rho)
		}
	}
}

// A multiply-add of words of 192 bits takes about wideWork of those in which pieces are measured, and a coin with its
// sum coinWork.
const (
	wideWork = 3
	coinWork = 6
)

// sums adds pieces that set all sums of words.
func (p *pieces) sums(to *[CheckSums]ring128.Word, by coins, words []ring128.Word) {
	p.split(CheckSums, func(int) int { return coinWork * len(words) }, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			to[j] = by.sum(j, words)
		}
	})
}

// subtractSums adds pieces that subtract all sums of words modulo 2^192.
func (p *pieces) subtractSums(from *[CheckSums]ring192.Word, by coins, words []ring192.Word) {
	p.split(CheckSums, func(int) int { return coinWork * len(words) }, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			from[j] = from[j].Sub(by.wideSum(j, words))
		}
	})
}

// combine adds pieces that make r*: the coefficients of all sums, each times its challenge, added up.
func (p *pieces) combine(by coins, to challenges) []ring192.Word {
	total := make([]ring192.Word, by.n)
	p.split(CheckSums, func(int) int { return coinWork * by.n }, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			by.addTo(total, j, to.rho[j])
		}
	})
	return total
}

// addWide adds pieces that add y X^T to dst.
func (p *pieces) addWide(dst, y []ring192.Word, x ring128.Matrix) {
	p.split(x.Rows, func(int) int { return wideWork * len(y) }, func(lo, hi int) { ring192.AddProductRows(dst, y, x, lo, hi) })
}

// challenges are random numbers below 2^64.
type challenges struct {
	lambda ring192.Word
	rho    [CheckSums]ring192.Word
}

func newChallenges(seed [32]byte) (c challenges) {
	stream := prg.New(seed, "mercer/v1/sealed/challenges")
	c.lambda = ring192.FromUint64(stream.Uint64())
	for j := range c.rho {
		c.rho[j] = ring192.FromUint64(stream.Uint64())
	}
	return c
}

// proofMasks are words that the prover and the helper of one term have in common. They cover what both send.
type proofMasks struct {
	claims, products [CheckSums]ring192.Word // w, w'
	last             ring192.Word            // w"
	weights, matrix  []ring192.Word          // m, m'
}

// draw draws the masks of a term from the seed of the pair of prover and helper. The masks depend on the digest of the
// coins, so they are drawn after the coins.
func (k *proofMasks) draw(pair [32]byte, of crossTerm, coins [32]byte) {
	stream, last := prg.New(pair, "mercer/v1/sealed/proof", []byte{byte(of.prover)}, coins[:]), make([]ring192.Word, 1)
	for _, words := range [][]ring192.Word{k.claims[:], k.products[:], last, k.weights, k.matrix} {
		ring192.Draw(words, stream)
	}
	k.last = last[0]
}

// masks adds a piece that draws the masks of a term for n words.
func (p *pieces) masks(pair [32]byte, of crossTerm, coins [32]byte, n int) *proofMasks {
	k := &proofMasks{weights: make([]ring192.Word, n), matrix: make([]ring192.Word, n)}
	p.then(2*n*wordWork, func() error { k.draw(pair, of, coins); return nil })
	return k
}

// claims are what a prover sends its checker.
type claims struct {
	sums, products [CheckSums]ring192.Word // y, q_j
	last           ring192.Word            // q
}

const claimsBytes = (2*CheckSums + 1) * ring192.Bytes

// claims adds pieces that compute a prover's words.
func (p *pieces) claims(known, other holding, by coins, k *proofMasks) *claims {
	n := len(known.weights)
	c, terms, covered := new(claims), make([]ring192.Word, n), make([]ring192.Word, n)
	p.addWide(terms, ring192.LiftAll(other.weights), known.matrix)
	p.addWide(terms, ring192.LiftAll(known.weights), other.matrix)
	p.addWide(covered, k.weights, known.matrix)
	p.then(n*wordWork, func() error {
		c.sums, c.products = k.claims, k.products
		c.last = k.last.Sub(ring192.Inner(k.matrix, ring192.LiftAll(known.weights)))
		return nil
	})
	p.subtractSums(&c.sums, by, terms)
	p.subtractSums(&c.products, by, covered)
	return c
}

func (c *claims) encode() []byte {
	body := ring192.Append(make([]byte, 0, claimsBytes), c.sums[:]...)
	return ring192.Append(ring192.Append(body, c.products[:]...), c.last)
}

func readClaims(r *wire.Reader) *claims {
	c := new(claims)
	var body [claimsBytes]byte
	r.Fixed(body[:])
	words, err := ring192.Decode(body[:], 2*CheckSums+1)
	if err != nil {
		r.Fail(err)
		return c
	}
	copy(c.sums[:], words)
	copy(c.products[:], words[CheckSums:])
	c.last = words[2*CheckSums]
	return c
}

// answers are what a helper sends the checker.
type answers struct {
	weights, matrix []ring192.Word // v, v'
	masks           ring192.Word   // o
}

func answersBytes(n int) int { return (2*n + 1) * ring192.Bytes }

// answers adds pieces that compute a helper's words.
func (p *pieces) answers(other holding, by coins, to challenges, k *proofMasks) *answers {
	a := &answers{weights: ring192.LiftAll(other.weights), matrix: make([]ring192.Word, len(other.weights))}
	p.addWide(a.matrix, p.combine(by, to), other.matrix)
	p.then(len(a.weights)*wordWork, func() error {
		ring192.Scale(a.weights, to.lambda)
		ring192.Scale(a.matrix, to.lambda)
		ring192.Add(a.weights, k.weights)
		ring192.Add(a.matrix, k.matrix)
		a.masks = to.combine(k.claims, k.products).Add(k.last)
		return nil
	})
	return a
}

// combine returns sum rho_j (lambda x_j + y_j).
func (c challenges) combine(x, y [CheckSums]ring192.Word) (sum ring192.Word) {
	for j, rho := range c.rho {
		sum = sum.Add(rho.Mul(c.lambda.Mul(x[j]).Add(y[j])))
	}
	return sum
}

func (a *answers) encode(n int) []byte {
	body := ring192.Append(make([]byte, 0, answersBytes(n)), a.weights...)
	return ring192.Append(ring192.Append(body, a.matrix...), a.masks)
}

// decodeAnswers decodes the body of exactly answersBytes(n) bytes.
func decodeAnswers(body []byte, n int) (*answers, error) {
	words, err := ring192.Decode(body, 2*n+1)
	if err != nil {
		return nil, err
	}
	return &answers{words[:n], words[n : 2*n], words[2*n]}, nil
}

// accepts reports whether the equation of a checker holds, given the product G r*.
func (c challenges) accepts(product []ring192.Word, known holding, of *claims, a *answers) bool {
	sum := a.masks.Sub(ring192.Inner(product, a.weights))
	sum = sum.Sub(ring192.Inner(a.matrix, ring192.LiftAll(known.weights)))
	return sum == c.combine(of.sums, of.products).Add(of.last)
}
