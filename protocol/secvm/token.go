package secvm

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"
)

// TokenRequest asks an issuer for all tokens of a device for one iteration. The
// issuer has a key for each iteration, so that tokens cannot be saved up for
// one; it knows the device, and sees nothing of the tokens. Device and iteration stand
// in the request's head, which the device signs, and the rest in the body.
type TokenRequest struct {
	Device    ed25519.PublicKey
	Iteration uint32
	Blinded   [][]byte // requests of RFC 9578, of one size
}

// TokenPurpose is the purpose for which a device signs the head of its request.
const TokenPurpose = "secvm/tokens"

// TokenSession returns the session that the head of a request names: the issuer's key for
// the iteration. So the request counts for no other issuer, job or iteration.
func TokenSession(tokenKey []byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte("mercer/v1/secvm/tokens\x00"), tokenKey...))
}

// Body returns the request's body.
func (q TokenRequest) Body() []byte { return slices.Concat(q.Blinded...) }

// DecodeBlinded reads the body of a request for a number of tokens of a number of bytes
// each. The parts share b.
func DecodeBlinded(b []byte, tokens, size int) ([][]byte, error) {
	if len(b) != tokens*size {
		return nil, fmt.Errorf("secvm: a request for tokens of %d bytes, where one for %d tokens has %d", len(b), tokens, tokens*size)
	}
	blinded := make([][]byte, tokens)
	for i := range blinded {
		blinded[i] = b[i*size:][:size:size]
	}
	return blinded, nil
}
