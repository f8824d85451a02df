package secvm

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// TokenRequest requests all tokens of a device for one iteration. The issuer has a key for
// each iteration, so that a device cannot save up tokens; it knows the device, but learns
// nothing about the tokens. The signed header of the request names device and iteration;
// the body holds the blinded tokens.
type TokenRequest struct {
	Device    ed25519.PublicKey
	Iteration uint32
	Blinded   [][]byte // requests of RFC 9578, of one size
}

// TokenPurpose is the purpose for which a device signs the header of its request. The
// header also names the issuer's key for the iteration, so a request is valid for no other
// issuer, job or iteration.
const TokenPurpose = "mercer/v1/secvm/tokens"

// iterationKey is the key of the iteration in the request's query.
const iterationKey = "iteration="

// Query returns the query part of the request's URL.
func (q TokenRequest) Query() string {
	return iterationKey + strconv.FormatUint(uint64(q.Iteration), 10)
}

// ParseQuery parses the bytes that Query returns.
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

// DecodeBlinded splits the body of a request into the given number of blinded tokens of
// size bytes each. The parts share b.
func DecodeBlinded(b []byte, tokens, size int) ([][]byte, error) {
	if len(b) != tokens*size {
		return nil, fmt.Errorf("secvm: the request for tokens has %d bytes; a request for %d tokens has %d", len(b), tokens, tokens*size)
	}
	blinded := make([][]byte, tokens)
	for i := range blinded {
		blinded[i] = b[i*size:][:size:size]
	}
	return blinded, nil
}
