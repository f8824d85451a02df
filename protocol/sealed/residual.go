package sealed

import (
	"math/bits"
	"slices"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// batches are the numbers of sums that are opened together. The first batch with a sum that is not accepted ends the
// check, so that a check that fails opens few sums.
var batches = [...]int{1, 1, 2, 4, 8, 8, 16}

// residual adds pieces that make the words of one part of R = 2^s B - (A + alpha) W, less the products with other
// parts: 2^s B - alpha W - X W.
func (p *pieces) residual(of Problem, h holding) []ring128.Word {
	words, product := make([]ring128.Word, len(h.weights)), ring128.New(of.Targets, of.Features)
	y := ring128.Matrix{Rows: of.Targets, Cols: of.Features, Data: h.weights}
	p.split(of.Features, func(int) int { return len(h.weights) }, func(lo, hi int) {
		ring128.AddMulTransBRows(product, y, h.matrix, lo, hi)
	})
	p.words(len(words), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			words[i] = h.cross[i].Lsh(of.WeightBits())
		}
		ring128.AddScaled(product.Data[lo:hi], ring128.FromInt64(of.Ridge), h.weights[lo:hi])
		ring128.Sub(words[lo:hi], product.Data[lo:hi])
	})
	return words
}

// noise returns whole numbers from -bound/2 to bound/2, each equally likely, for an even bound. They depend on the seed
// of the pair of keepers that adds them and on the digest of the coins.
func noise(pair [32]byte, of string, coins [32]byte, bound ring128.Word) (list [CheckSums]ring128.Word) {
	stream := prg.New(pair, "mercer/v1/sealed/noise", []byte(of), coins[:])
	half := bound.Rsh(1)
	for j := range list {
		list[j] = uniform(stream, bound).Sub(half)
	}
	return list
}

// uniform returns a whole number from 0 to most, each equally likely. Its time depends only on numbers that it draws
// and rejects, which are used for nothing else.
func uniform(stream *prg.Stream, most ring128.Word) ring128.Word {
	mask := ones(most)
	draw := make([]ring128.Word, 1)
	for {
		ring128.Draw(draw, stream)
		w := ring128.Word{Hi: draw[0].Hi & mask.Hi, Lo: draw[0].Lo & mask.Lo}
		if !less(most, w) {
			return w
		}
	}
}

// ones returns the least 2^k - 1 that is at least w.
func ones(w ring128.Word) ring128.Word {
	if w.Hi != 0 {
		return ring128.Word{Hi: ^uint64(0) >> bits.LeadingZeros64(w.Hi), Lo: ^uint64(0)}
	}
	if w.Lo == 0 {
		return ring128.Word{}
	}
	return ring128.Word{Lo: ^uint64(0) >> bits.LeadingZeros64(w.Lo)}
}

// less reports whether x is below y, both as numbers from 0 to 2^128 - 1.
func less(x, y ring128.Word) bool {
	_, borrow := bits.Sub64(x.Lo, y.Lo, 0)
	_, borrow = bits.Sub64(x.Hi, y.Hi, borrow)
	return borrow != 0
}

// within reports whether the check accepts the signed number d: within 2.5 times an even bound.
func within(d, bound ring128.Word) bool {
	most := bound.Add(bound).Add(bound.Rsh(1))
	return !less(most.Add(most), d.Add(most))
}

// takeVerdicts goes on only if both checkers accept, and begins to compute this keeper's totals.
func (k *check) takeVerdicts(bodies [3][]byte) error {
	if k.self != dealerC {
		bodies[k.self] = []byte{k.verdict}
	}
	for _, from := range []role{serverA, serverB} {
		if bodies[from][0] != 1 {
			return checkFailed("%s does not accept a proof; its prover or its helper is at fault", k.keepers[from])
		}
	}
	for _, p := range k.self.parts() {
		k.pieces.sums(&k.totals[0][p], k.coins, k.pieces.residual(k.problem, k.held[p]))
		k.pieces.sums(&k.totals[1][p], k.coins, k.held[p].weights)
		k.pieces.then(0, func() error { k.addTerms(p); k.blur(p); return nil })
	}
	return nil
}

// blur adds the noise of a part's holders to its totals.
func (k *check) blur(p part) {
	for of, name := range []string{kindResidual, kindRange} {
		for j, e := range noise(k.pairs[p], name, k.coinsDigest, k.bounds[of]) {
			k.totals[of][p][j] = k.totals[of][p][j].Add(e)
		}
	}
}

// addTerms adds what both holders of a part know of cross terms: y of the term of which it is the known part, and -w of
// the term of which it is the other one.
func (k *check) addTerms(p part) {
	for _, t := range crossTerms {
		for j := range k.totals[0][p] {
			total := &k.totals[0][p][j]
			switch p {
			case t.known:
				*total = total.Add(k.claims[t.prover].sums[j].Reduce())
			case t.other:
				*total = total.Sub(k.masks[t.prover].claims[j].Reduce())
			}
		}
	}
}

// batch is a number of sums that are opened together: of R, or of W.
type batch struct {
	*check
	of       int // 0 for R, 1 for W
	first, n int
}

// body returns the totals of the part that the receiver lacks.
func (b batch) body(to role) []byte {
	return ring128.Append(nil, b.totals[b.of][to.lacks()][b.first:b.first+b.n])
}

// take adds up the totals of all parts. Both holders of the part that this keeper lacks have sent its totals.
func (b batch) take(bodies [3][]byte) error {
	others := b.self.others()
	if !slices.Equal(bodies[others[0]], bodies[others[1]]) {
		return checkFailed("%s and %s send %s different totals", b.keepers[others[0]], b.keepers[others[1]], b.keepers[b.self])
	}
	sums := make([]ring128.Word, b.n)
	if err := ring128.Decode(sums, bodies[others[0]]); err != nil {
		return err
	}
	for _, p := range b.self.parts() {
		ring128.Add(sums, b.totals[b.of][p][b.first:b.first+b.n])
	}
	for _, d := range sums {
		if !within(d, b.bounds[b.of]) {
			return checkFailed("%s", [...]string{"the weights do not solve the equations of the sums", "the weights are larger than any rows make them"}[b.of])
		}
	}
	return nil
}
