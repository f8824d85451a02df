package sealed

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol/internal/ring192"
)

// claimsLength counts a commitment to the challenge and the digest of the coins, which both others get, and the claims,
// which the checker gets.
func claimsLength(from, to role) int {
	n := 2 * sha256.Size
	if crossTerms[from].checker == to {
		n += claimsBytes
	}
	return n
}

func (k *check) claimsBody(to role) []byte {
	k.challenge.commitments[k.self] = k.commit("challenge", k.self, k.secret("challenge"))
	var w wire.Writer
	w.Fixed(k.challenge.commitments[k.self][:])
	w.Fixed(k.coinsDigest[:])
	if crossTerms[k.self].checker == to {
		w.Fixed(k.claims[k.self].encode())
	}
	return w.Bytes()
}

func (k *check) takeClaims(bodies [3][]byte) error {
	for _, from := range k.self.others() {
		r := wire.NewReader(bodies[from])
		r.Fixed(k.challenge.commitments[from][:])
		if err := k.compare(r, k.coinsDigest, from); err != nil {
			return err
		}
		if crossTerms[from].checker == k.self {
			k.claims[from] = readClaims(r)
		}
		if err := r.Close("sealed: claims"); err != nil {
			return err
		}
	}
	return nil
}

// compare reads another keeper's digest, and returns an error unless it equals this keeper's own.
func (k *check) compare(r *wire.Reader, own [32]byte, from role) error {
	var theirs [32]byte
	if r.Fixed(theirs[:]); theirs != own {
		return checkFailed("%s has seen other commitments, coins or challenges than %s", k.keepers[from], k.keepers[k.self])
	}
	return nil
}

func (k *check) challengeBody(role) []byte {
	own := k.secret("challenge")
	return own[:]
}

// takeChallenges makes the challenges from the three keepers' bytes, and begins to compute this keeper's answers.
func (k *check) takeChallenges(bodies [3][]byte) error {
	revealed := [3]secret{}
	revealed[k.self] = k.secret("challenge")
	for _, from := range k.self.others() {
		revealed[from] = secret(bodies[from])
		if k.commit("challenge", from, revealed[from]) != k.challenge.commitments[from] {
			return k.blame(from, "the challenge is not the one that the sender committed to")
		}
	}
	k.challenge.all = newChallenges(k.together("challenge", revealed))
	w := k.label("digest/challenges")
	w.Fixed(k.coinsDigest[:])
	for r := range revealed {
		w.Fixed(k.challenge.commitments[r][:])
		w.Fixed(revealed[r][:])
	}
	k.challenge.digest = sha256.Sum256(w.Bytes())
	for _, t := range crossTerms {
		if t.helper == k.self {
			k.answers[t.prover] = k.pieces.answers(k.held[t.other], k.coins, k.challenge.all, k.masks[t.prover])
		}
	}
	return nil
}

// helped returns the term in which from is the helper and to the checker, if there is one.
func helped(from, to role) (crossTerm, bool) {
	for _, t := range crossTerms {
		if t.helper == from && t.checker == to {
			return t, true
		}
	}
	return crossTerm{}, false
}

func (c computation) answersLength(from, to role) int {
	n := sha256.Size
	if _, ok := helped(from, to); ok {
		n += answersBytes(c.vectors())
	}
	return n
}

func (k *check) answersBody(to role) []byte {
	var w wire.Writer
	w.Fixed(k.challenge.digest[:])
	if t, ok := helped(k.self, to); ok {
		w.Fixed(k.answers[t.prover].encode(k.vectors()))
	}
	return w.Bytes()
}

// takeAnswers compares digests and then begins to judge the terms that this keeper checks.
func (k *check) takeAnswers(bodies [3][]byte) error {
	for _, from := range k.self.others() {
		if err := k.compare(wire.NewReader(bodies[from]), k.challenge.digest, from); err != nil {
			return err
		}
	}
	k.verdict = 1
	for _, from := range k.self.others() {
		t, ok := helped(from, k.self)
		if !ok {
			continue
		}
		a, err := decodeAnswers(bodies[from][sha256.Size:], k.vectors())
		if err != nil {
			return err
		}
		k.judge(t, a)
	}
	return nil
}

// judge adds pieces that compute the equation of a term.
func (k *check) judge(t crossTerm, a *answers) {
	known, product := k.held[t.known], make([]ring192.Word, k.vectors())
	k.pieces.addWide(product, k.pieces.combine(k.coins, k.challenge.all), known.matrix)
	k.pieces.then(2*wideWork*k.vectors(), func() error {
		if !k.challenge.all.accepts(product, known, k.claims[t.prover], a) {
			k.verdict = 0
		}
		return nil
	})
}

// verdictLength returns 1 for a server and 0 for the dealer, which checks no term.
func verdictLength(from, _ role) int {
	if from == dealerC {
		return 0
	}
	return 1
}

func (k *check) verdictBody(role) []byte { return []byte{k.verdict} }
