package privacypass

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// Token is RFC 9577, section 2.2. The nonce is the client's; a verifier that
// sees it twice sees a token spent twice.
type Token struct {
	Type          Type
	Nonce         [32]byte
	Challenge     [sha256.Size]byte // digest
	Key           [sha256.Size]byte // id of the issuer's key
	Authenticator []byte
}

// headSize is the size of the part before the authenticator, which the authenticator covers.
const headSize = 2 + 3*32

// Size returns the number of bytes of an encoded token.
func (t Type) Size() int { return headSize + t.size() }

// Input returns the bytes that the authenticator authenticates.
func (t *Token) Input() []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(t.Type))
	return slices.Concat(b, t.Nonce[:], t.Challenge[:], t.Key[:])
}

// Encode returns the token's bytes.
func (t *Token) Encode() []byte { return append(t.Input(), t.Authenticator...) }

// ParseToken reads a token of either kind. It checks nothing but the length.
func ParseToken(b []byte) (*Token, error) {
	if len(b) < 2 {
		return nil, errors.New("privacypass: the token ends early")
	}
	t := &Token{Type: Type(binary.BigEndian.Uint16(b))}
	if t.Type.size() == 0 {
		return nil, fmt.Errorf("privacypass: %v is not known here", t.Type)
	}
	if len(b) != t.Type.Size() {
		return nil, fmt.Errorf("privacypass: a token of %d bytes; a token of %v has %d", len(b), t.Type, t.Type.Size())
	}
	copy(t.Nonce[:], b[2:])
	copy(t.Challenge[:], b[34:])
	copy(t.Key[:], b[66:])
	t.Authenticator = slices.Clone(b[headSize:])
	return t, nil
}

// Errors of verifiers.
var (
	ErrChallenge = errors.New("privacypass: the token is for another challenge")
	ErrKey       = errors.New("privacypass: the token is of another key or kind")
	ErrForged    = errors.New("privacypass: the token does not verify")
)

// Verifier checks tokens of one issuer's key.
type Verifier struct {
	kind   Type
	key    [sha256.Size]byte
	verify func(input, authenticator []byte) bool
}

// Verify returns nil for a token of the issuer for the challenge with this
// digest, or else one of [ErrKey], [ErrChallenge] and [ErrForged]. It does not
// know which tokens have been spent.
func (v *Verifier) Verify(t *Token, challenge [sha256.Size]byte) error {
	switch {
	case t.Type != v.kind || subtle.ConstantTimeCompare(t.Key[:], v.key[:]) == 0:
		return ErrKey
	case subtle.ConstantTimeCompare(t.Challenge[:], challenge[:]) == 0:
		return ErrChallenge
	case len(t.Authenticator) != v.kind.size() || !v.verify(t.Input(), t.Authenticator):
		return ErrForged
	}
	return nil
}
