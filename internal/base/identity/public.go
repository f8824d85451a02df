package identity

import (
	"crypto/ed25519"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Public is the part of an identity that others know.
type Public struct {
	Sign ed25519.PublicKey // key that verifies signatures, 32 bytes
	KEM  []byte            // ML-KEM-768 + X25519 public key, 1216 bytes
	NKey string            // NATS user nkey: U and 55 more characters
	TLS  ed25519.PublicKey // key of TLS, 32 bytes; empty for a member without a port
}

// Validate returns an error for the first key that is not valid.
func (p Public) Validate() error {
	if len(p.Sign) != ed25519.PublicKeySize {
		return fmt.Errorf("identity: the signing key has %d bytes; it must have %d", len(p.Sign), ed25519.PublicKeySize)
	}
	if n := len(p.TLS); n > 0 && n != ed25519.PublicKeySize {
		return fmt.Errorf("identity: the TLS key has %d bytes; it must have %d", n, ed25519.PublicKeySize)
	}
	if _, err := p.KEMKey(); err != nil {
		return err
	}
	raw, err := nkeys.Decode(nkeys.PrefixByteUser, []byte(p.NKey))
	if err != nil {
		return fmt.Errorf("identity: the NATS user nkey %q is not valid: %w", p.NKey, err)
	}
	// A key with line breaks is refused, although the decoder accepts it. Otherwise one key would have
	// two spellings.
	again, err := nkeys.Encode(nkeys.PrefixByteUser, raw)
	if err != nil || string(again) != p.NKey {
		return fmt.Errorf("identity: the NATS user nkey %q is not in canonical form", p.NKey)
	}
	return nil
}

// KEMKey parses the public key to which others seal messages.
func (p Public) KEMKey() (hpke.PublicKey, error) {
	return ParseKEM(p.KEM)
}

// AppendTo appends the signing key, the KEM key and the NATS key to an encoding. Every member has
// these keys.
func (p Public) AppendTo(w *wire.Writer) {
	w.Bytes32(p.Sign)
	w.Bytes32(p.KEM)
	w.Bytes32([]byte(p.NKey))
}

// Fingerprint is the SHA-256 hash of all public keys of an identity.
type Fingerprint [sha256.Size]byte

// Fingerprint returns the hash of all keys of p. If p has no TLS key, the fingerprint is the one of
// earlier versions, in which no member had a TLS key.
func (p Public) Fingerprint() Fingerprint {
	var w wire.Writer
	if len(p.TLS) == 0 {
		w.String("mercer/v1/fingerprint")
		p.AppendTo(&w)
	} else {
		w.String("mercer/v2/fingerprint")
		p.AppendTo(&w)
		w.Bytes32(p.TLS)
	}
	return sha256.Sum256(w.Bytes())
}

// fingerprintBytes is the length of the part of a fingerprint that people compare. It has 128 bits,
// so that finding other keys with the same groups takes 2^128 trials.
const fingerprintBytes = 16

// String returns the fingerprint as eight groups of four hexadecimal digits, to be read aloud.
func (f Fingerprint) String() string {
	var groups []string
	for i := 0; i < fingerprintBytes; i += 2 {
		groups = append(groups, hex.EncodeToString(f[i:i+2]))
	}
	return strings.Join(groups, "-")
}

// Words returns the part that people compare as eight made-up words of five letters, one for each group
// of [Fingerprint.String]. They are proquints (D. Wilkerson, A Proposal for Proquints, arXiv 0901.4016).
func (f Fingerprint) Words() string {
	var words []string
	for i := 0; i < fingerprintBytes; i += 2 {
		words = append(words, proquint(uint16(f[i])<<8|uint16(f[i+1])))
	}
	return strings.Join(words, "-")
}

// proquint spells 16 bits as five letters: 4 bits for each of three consonants, and 2 bits for each of the two
// vowels between them.
func proquint(x uint16) string {
	const consonants, vowels = "bdfghjklmnprstvz", "aiou"
	return string([]byte{consonants[x>>12], vowels[x>>10&3], consonants[x>>6&15], vowels[x>>4&3], consonants[x&15]})
}

// ParseKEM parses a public key to which others seal messages.
func ParseKEM(key []byte) (hpke.PublicKey, error) {
	k, err := hpke.MLKEM768X25519().NewPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("identity: the KEM key, of %d bytes, is not valid: %w", len(key), err)
	}
	return k, nil
}
