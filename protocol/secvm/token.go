package secvm

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// TokenRequest asks an issuer for all tokens of a device for one iteration. The
// issuer has a key for each iteration, so that tokens cannot be saved up for
// one; it knows the device, and sees nothing of the tokens.
type TokenRequest struct {
	Device    ed25519.PublicKey
	Iteration uint32
	Blinded   [][]byte // requests of RFC 9578, of one size
}

// tokenRequestHead is the size of the bytes before the blinded requests.
const tokenRequestHead = ed25519.PublicKeySize + 4

// Sign returns the request's bytes with the device's signature.
func (q TokenRequest) Sign(sign Signer) []byte {
	var w wire.Writer
	w.Fixed(q.Device)
	w.Uint32(q.Iteration)
	for _, b := range q.Blinded {
		w.Fixed(b)
	}
	return slices.Concat(w.Bytes(), sign(tokenMessage(w.Bytes())))
}

func tokenMessage(request []byte) []byte {
	h := sha256.Sum256(append([]byte("mercer/v1/secvm/tokens\x00"), request...))
	return h[:]
}

// ErrSignature is a request for tokens that its device has not signed.
var ErrSignature = errors.New("secvm: the request for tokens is not signed by its device")

// DecodeTokenRequest reads a request for a number of tokens of a number of bytes each,
// and checks the signature by the device's key in it. The parts share b.
func DecodeTokenRequest(b []byte, tokens, size int) (TokenRequest, error) {
	signed := tokenRequestHead + tokens*size
	if len(b) != signed+ed25519.SignatureSize {
		return TokenRequest{}, fmt.Errorf("secvm: a request for tokens of %d bytes, where one for %d tokens has %d", len(b), tokens, signed+ed25519.SignatureSize)
	}
	r := wire.NewReader(b)
	q := TokenRequest{Device: make(ed25519.PublicKey, ed25519.PublicKeySize), Blinded: make([][]byte, tokens)}
	r.Fixed(q.Device)
	q.Iteration = r.Uint32()
	for i := range q.Blinded {
		q.Blinded[i] = b[tokenRequestHead+i*size:][:size:size]
	}
	if !ed25519.Verify(q.Device, tokenMessage(b[:signed]), b[signed:]) {
		return TokenRequest{}, ErrSignature
	}
	return q, nil
}
