package okra

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
)

// Round 1, Seed (the paper's 3.2.2): the leader draws the epoch's seed and
// sends it, with its number of features, to every other party and never to the
// server. The runner seals it end to end.
const (
	roundSeed = 1
	kindSeed  = "Seed"
)

// epochSeed derives the epoch's seed from the leader's session seed.
func epochSeed(s protocol.Setup) Seed {
	id := s.Session.ID()
	return prg.Derive(s.Seed, "okra/epoch", id[:])
}

// claim returns the one permanent name of an epoch: a party encodes under one seed
// in one training session only, even if a leader sends a seed again.
func (s Seed) claim() string {
	h := sha256.Sum256(append([]byte("mercer/v1/okra/claim"), s[:]...))
	return "okra/epoch/" + hex.EncodeToString(h[:16])
}

type seedBody struct {
	seed     Seed
	features int
}

func (b seedBody) encode() []byte {
	var w wire.Writer
	w.Fixed(b.seed[:])
	w.Uint32(uint32(b.features))
	return w.Bytes()
}

func decodeSeed(body []byte) (seedBody, error) {
	r := wire.NewReader(body)
	var b seedBody
	r.Fixed(b.seed[:])
	b.features = int(r.Uint32())
	if r.Err() == nil && (b.features < 1 || b.features > MaxFeatures) {
		r.Fail(fmt.Errorf("%d features; 1 to %d are possible", b.features, MaxFeatures))
	}
	return b, r.Close("okra: seed")
}
