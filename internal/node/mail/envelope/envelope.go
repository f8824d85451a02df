package envelope

import (
	"crypto/ed25519"
	"crypto/hpke"
	"crypto/sha256"

	"github.com/mercer-fl/mercer/protocol"
)

// The parts of an envelope, in bytes.
const (
	prefixBytes    = 2 // length of H
	maxHeaderBytes = 1 << 10
	// An encapsulation is an ML-KEM-768 ciphertext and an X25519 key.
	encapsulationBytes = 1088 + 32
	tagBytes           = 16

	// MaxOverhead is the most an envelope adds to a body.
	MaxOverhead = prefixBytes + maxHeaderBytes + encapsulationBytes + tagBytes + ed25519.SignatureSize
	// MaxBytes is the most a receiver looks at.
	MaxBytes = protocol.MaxChunkBytes + MaxOverhead
)

const domain = "mercer/v1/msg"

func kdf() hpke.KDF   { return hpke.HKDFSHA256() }
func aead() hpke.AEAD { return hpke.AES256GCM() }

// signed returns the bytes that the signature covers. H delimits itself, so the
// concatenation has one reading only.
func signed(header, sealed []byte) []byte {
	digest := sha256.Sum256(sealed)
	b := make([]byte, 0, len(domain)+len(header)+len(digest))
	b = append(b, domain...)
	b = append(b, header...)
	return append(b, digest[:]...)
}
