package sealed

import (
	"crypto/sha256"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

func (c computation) weightsLength(from, to role) int {
	if from == dealerC || to == dealerC {
		return 0
	}
	return c.vectors() * ring128.Bytes
}

// weightsBody returns the share of W less the mask of this server: F_a or F_b.
func (k *check) weightsBody(role) []byte {
	return ring128.Append(nil, k.openedShare())
}

func (k *check) openedShare() []ring128.Word {
	own := slices.Clone(k.share)
	ring128.Sub(own, k.held[k.self.parts()[0]].weights)
	return own
}

func (k *check) takeWeights(bodies [3][]byte) error {
	if k.self == dealerC {
		return nil
	}
	words := make([]ring128.Word, k.vectors())
	if err := ring128.Decode(words, bodies[1-k.self]); err != nil {
		return err
	}
	ring128.Add(words, k.openedShare())
	k.held[masked].weights = words
	return nil
}

// commitments bind a keeper before coins are tossed. The keeper sends the same commitments to both others.
type commitments struct {
	hashes       [parts][sha256.Size]byte // hashes of the keeper's two parts of W
	coins, token [sha256.Size]byte
}

const commitmentsBytes = 4 * sha256.Size

func (c commitments) encode(of role) []byte {
	var w wire.Writer
	for _, p := range of.parts() {
		w.Fixed(c.hashes[p][:])
	}
	w.Fixed(c.coins[:])
	w.Fixed(c.token[:])
	return w.Bytes()
}

func decodeCommitments(body []byte, of role) (c commitments, err error) {
	r := wire.NewReader(body)
	for _, p := range of.parts() {
		r.Fixed(c.hashes[p][:])
	}
	r.Fixed(c.coins[:])
	r.Fixed(c.token[:])
	return c, r.Close("sealed: commitments")
}

// label returns a writer with the first of the bytes that are hashed for one purpose in this generation.
func (c computation) label(purpose string) *wire.Writer {
	w := new(wire.Writer)
	w.String("mercer/v1/sealed/" + purpose)
	w.Fixed(c.session[:])
	w.Uint32(c.generation)
	return w
}

// commit returns the commitment of a keeper to a secret for a purpose.
func (c computation) commit(purpose string, sender role, of secret) [sha256.Size]byte {
	w := c.label("commitment/" + purpose)
	w.Uint8(uint8(sender))
	w.Fixed(of[:])
	return sha256.Sum256(w.Bytes())
}

// secret returns this keeper's secret random bytes for a purpose.
func (k *check) secret(purpose string) secret {
	return prg.Derive(k.seed, "sealed/"+purpose, k.label(purpose).Bytes())
}

// salt returns what the two holders of a part of W add to its hash, so that the third keeper cannot try guesses of W.
func (k *check) salt(of part) secret { return prg.Derive(k.pairs[of], "sealed/weights/salt") }

// hash returns the salted SHA-256 of a part of W, which binds its sender to the part.
func (c computation) hash(of part, salt secret, words []ring128.Word) (sum [sha256.Size]byte) {
	w := c.label("weights")
	w.String(of.name())
	w.Fixed(salt[:])
	h := sha256.New()
	_, _ = h.Write(w.Bytes()) // a hash never fails
	_, _ = h.Write(ring128.Append(make([]byte, 0, len(words)*ring128.Bytes), words))
	h.Sum(sum[:0])
	return sum
}

func (k *check) own() (c commitments) {
	for _, p := range k.self.parts() {
		c.hashes[p] = k.hash(p, k.salt(p), k.held[p].weights)
	}
	c.coins = k.commit("coins", k.self, k.secret("coins"))
	c.token = k.commit("token", k.self, k.secret("token"))
	return c
}

func (k *check) commitmentsBody(role) []byte {
	k.commitments[k.self] = k.own()
	return k.commitments[k.self].encode(k.self)
}

// takeCommitments compares the hashes of each part by its two holders. So all honest keepers mean one W from here on.
func (k *check) takeCommitments(bodies [3][]byte) (err error) {
	for _, from := range k.self.others() {
		if k.commitments[from], err = decodeCommitments(bodies[from], from); err != nil {
			return err
		}
	}
	for p := range part(parts) {
		holders := p.holders()
		if k.commitments[holders[0]].hashes[p] == k.commitments[holders[1]].hashes[p] {
			continue
		}
		for i, h := range holders {
			if h == k.self {
				return k.blame(holders[1-i], "the hash of part %q of the weights differs from this keeper's", p.name())
			}
		}
		return checkFailed("%s and %s have different hashes of part %q of the weights", k.keepers[holders[0]], k.keepers[holders[1]], p.name())
	}
	return nil
}

// holders returns the two keepers that hold a part.
func (p part) holders() [2]role {
	return [...][2]role{{serverA, dealerC}, {serverB, dealerC}, {serverA, serverB}}[p]
}

// otherHolder returns the keeper that holds a part together with the given one.
func (p part) otherHolder(r role) role {
	if h := p.holders(); h[0] != r {
		return h[0]
	}
	return p.holders()[1]
}

func (k *check) coinsBody(role) []byte {
	k.revealed[k.self] = k.secret("coins")
	return slices.Clone(k.revealed[k.self][:])
}

// takeCoins tosses the coins, and begins to compute this keeper's claims.
func (k *check) takeCoins(bodies [3][]byte) error {
	for _, from := range k.self.others() {
		k.revealed[from] = secret(bodies[from])
		if k.commit("coins", from, k.revealed[from]) != k.commitments[from].coins {
			return k.blame(from, "the coins are not the ones that the sender committed to")
		}
	}
	k.coins = coins{seed: k.together("coins", k.revealed), n: k.vectors()}
	k.coinsDigest = k.digestOfCoins()
	for _, t := range crossTerms {
		if k.self == t.prover || k.self == t.helper {
			k.masks[t.prover] = k.pieces.masks(k.pairs[t.other], t, k.coinsDigest, k.vectors())
		}
		if k.self == t.prover {
			k.claims[t.prover] = k.pieces.claims(k.held[t.known], k.held[t.other], k.coins, k.masks[t.prover])
		}
	}
	return nil
}

// together returns the hash of the keepers' bytes. The hash is random if one keeper is honest and no keeper could
// choose its bytes after it saw those of another.
func (c computation) together(purpose string, of [3]secret) [32]byte {
	w := c.label("together/" + purpose)
	for _, s := range of {
		w.Fixed(s[:])
	}
	return sha256.Sum256(w.Bytes())
}

// digestOfCoins hashes all commitments and coins. Keepers compare the digest, because a keeper could show the two
// others different commitments or coins.
func (k *check) digestOfCoins() [32]byte {
	w := k.label("digest/coins")
	for r, c := range k.commitments {
		w.Fixed(c.encode(role(r)))
		w.Fixed(k.revealed[r][:])
	}
	return sha256.Sum256(w.Bytes())
}
