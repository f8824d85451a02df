package secvm

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// TokenRequest asks an issuer for all tokens of a device for one iteration. The
// issuer has a key for each iteration, so that tokens cannot be saved up for
// one; it knows the device, and sees nothing of the tokens. Device and iteration stand
// in the request's header, which the device signs, and the rest in the body.
type TokenRequest struct {
	Device    ed25519.PublicKey
	Iteration uint32
	Blinded   [][]byte // requests of RFC 9578, of one size
}

// TokenPurpose is the purpose for which a device signs the header of its request. What the
// request belongs to is the issuer's key for the iteration: it counts for no other issuer, job
// or iteration.
const TokenPurpose = "mercer/v1/secvm/tokens"

// iterationKey is the part of the request's address that names the iteration.
const iterationKey = "iteration="

// Query returns the query of the request's address.
func (q TokenRequest) Query() string {
	return iterationKey + strconv.FormatUint(uint64(q.Iteration), 10)
}

// ParseQuery reads the iteration that Query returns.
func ParseQuery(query string) (iteration uint32, err error) {
	digits, found := strings.CutPrefix(query, iterationKey)
	n, err := strconv.ParseUint(digits, 10, 32)
	if !found || err != nil {
		return 0, fmt.Errorf("secvm: %q names no iteration; write %sN", query, iterationKey)
	}
	return uint32(n), nil
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
