package privacypass

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Type is a kind of token: RFC 9578, section 8.2.1.
type Type uint16

// The kinds.
const (
	VOPRF    Type = 0x0001
	BlindRSA Type = 0x0002
)

func (t Type) String() string {
	switch t {
	case VOPRF:
		return "VOPRF(P-384, SHA-384)"
	case BlindRSA:
		return "Blind RSA (2048 bits)"
	}
	return fmt.Sprintf("token type %#04x", uint16(t))
}

// size returns the number of bytes of an authenticator.
func (t Type) size() int {
	switch t {
	case VOPRF:
		return 48
	case BlindRSA:
		return 256
	}
	return 0
}

// Challenge is the subject of a token: RFC 9577, section 2.1.
type Challenge struct {
	Type    Type
	Issuer  string
	Context []byte // 32 bytes, or none
	Origin  string // or names with commas between them, or none
}

var errChallenge = errors.New("privacypass: the challenge is none of RFC 9577")

// Encode returns the challenge's bytes. It panics if a part has a length that
// cannot be written.
func (c Challenge) Encode() []byte {
	if len(c.Issuer) == 0 || len(c.Issuer) > 1<<16-1 || len(c.Origin) > 1<<16-1 || (len(c.Context) != 0 && len(c.Context) != 32) {
		panic(errChallenge)
	}
	b := binary.BigEndian.AppendUint16(nil, uint16(c.Type))
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(c.Issuer))), c.Issuer...)
	b = append(append(b, byte(len(c.Context))), c.Context...)
	return append(binary.BigEndian.AppendUint16(b, uint16(len(c.Origin))), c.Origin...)
}

// Digest returns the hash that a token carries of its challenge.
func (c Challenge) Digest() [sha256.Size]byte { return sha256.Sum256(c.Encode()) }

// ParseChallenge reads a challenge.
func ParseChallenge(b []byte) (Challenge, error) {
	var c Challenge
	if len(b) < 2 {
		return c, errChallenge
	}
	c.Type = Type(binary.BigEndian.Uint16(b))
	issuer, b, ok := prefixed(b[2:], 2)
	context, b, ok2 := prefixed(b, 1)
	origin, b, ok3 := prefixed(b, 2)
	if !ok || !ok2 || !ok3 || len(b) > 0 || len(issuer) == 0 || (len(context) != 0 && len(context) != 32) {
		return Challenge{}, errChallenge
	}
	c.Issuer, c.Context, c.Origin = string(issuer), context, string(origin)
	return c, nil
}

// prefixed takes a length of some bytes and as many bytes as it says.
func prefixed(b []byte, width int) (taken, rest []byte, ok bool) {
	if len(b) < width {
		return nil, nil, false
	}
	n := 0
	for _, c := range b[:width] {
		n = n<<8 | int(c)
	}
	if b = b[width:]; len(b) < n {
		return nil, nil, false
	}
	return b[:n:n], b[n:], true
}
