package secvm

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// TokenRequest is a device's request to the issuer for all tokens of one iteration. The issuer has
// a key for each iteration, so that a device cannot save up tokens. The issuer knows the device,
// but learns nothing about the tokens. The signed header of the request names the device and the
// iteration; the body holds the blinded tokens.
type TokenRequest struct {
	Device    ed25519.PublicKey
	Iteration uint32
	Blinded   [][]byte // blinded tokens in the format of RFC 9578, all of one size
}

// TokenPurpose is the purpose named in a device's signature of a token request. The signature
// covers the request's header. The header also names the issuer's key for the iteration, so a
// request is valid for no other issuer, job or iteration.
const TokenPurpose = "mercer/v1/secvm/tokens"

// iterationKey is the beginning of a token request's query, before the number of the iteration.
const iterationKey = "iteration="

// Query returns the query part of the request's URL, which names the iteration.
func (q TokenRequest) Query() string {
	return iterationKey + strconv.FormatUint(uint64(q.Iteration), 10)
}

// ParseQuery returns the iteration from the output of [TokenRequest.Query].
func ParseQuery(query string) (iteration uint32, err error) {
	digits, found := strings.CutPrefix(query, iterationKey)
	n, err := strconv.ParseUint(digits, 10, 32)
	if !found || err != nil {
		return 0, fmt.Errorf("secvm: the query %q does not name an iteration; write %sN", query, iterationKey)
	}
	return uint32(n), nil
}

// Body returns the request's body: the blinded tokens one after the other.
func (q TokenRequest) Body() []byte { return slices.Concat(q.Blinded...) }

// DecodeBlinded splits the body of a request into the given number of blinded tokens, which have
// size bytes each. The tokens share the memory of b.
func DecodeBlinded(b []byte, tokens, size int) ([][]byte, error) {
	if len(b) != tokens*size {
		return nil, fmt.Errorf("secvm: the request for tokens has %d bytes; a request for %d tokens must have %d", len(b), tokens, tokens*size)
	}
	blinded := make([][]byte, tokens)
	for i := range blinded {
		blinded[i] = b[i*size:][:size:size]
	}
	return blinded, nil
}
