package envelope

import (
	"crypto/ed25519"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// Lookup returns the signing key of a roster member. It returns false for an unknown name.
type Lookup func(name string) (ed25519.PublicKey, bool)

// Verified is an envelope with a verified signature and a body that is still sealed. It shares the
// bytes that were given to [Verify].
type Verified struct {
	Header protocol.Header // the header, which the sender has signed

	header, sealed []byte
}

// Peek reads the header for routing and for logs. It verifies nothing, so anyone may have written
// the header.
func Peek(wire []byte) (protocol.Header, error) {
	v, _, err := split(wire)
	if err != nil {
		return protocol.Header{}, fmt.Errorf("envelope: %w", err)
	}
	return v.Header, nil
}

// Verify checks the size, the sender, the signature and the receiver of an envelope. The sender
// must be a member, and the receiver must be self. Every error is a *protocol.BlameError that
// blames [protocol.Transport].
func Verify(wire []byte, lookup Lookup, self string) (Verified, error) {
	v, signature, err := split(wire)
	if err != nil {
		return Verified{}, transport(err)
	}
	h := v.Header
	key, ok := lookup(h.Sender)
	if !ok || len(key) != ed25519.PublicKeySize {
		return Verified{}, transport(fmt.Errorf("the sender %q is not in the roster", h.Sender))
	}
	if !ed25519.Verify(key, signed(v.header, v.sealed), signature) {
		return Verified{}, transport(fmt.Errorf("the signature in the name of %q does not verify", h.Sender))
	}
	// The error blames the transport, because the sender may have signed this message for another
	// member in good faith.
	if h.Receiver != self {
		return Verified{}, transport(fmt.Errorf("the message from %q for %q was delivered to %q", h.Sender, h.Receiver, self))
	}
	return v, nil
}

func transport(err error) error {
	return protocol.Blame(protocol.Transport, protocol.KindTransport, fmt.Errorf("envelope: %w", err))
}

// Open decrypts the body with the receiver's key for the session that the header names. If the body is
// not sealed to that key, the error is a *protocol.BlameError that blames the sender, who has signed the
// envelope; therefore a receiver without a key for that session must drop the envelope, and not try
// another key. If the key is missing or of the wrong type, the error blames nobody.
func (v Verified) Open(key hpke.PrivateKey) (protocol.Message, error) {
	if key == nil || key.KEM() != hpke.MLKEM768X25519() {
		return protocol.Message{}, errors.New("envelope: the receiver's private key is missing or not for ML-KEM-768 + X25519")
	}
	body, err := hpke.Open(key, kdf(), aead(), v.header, v.sealed)
	if err != nil {
		return protocol.Message{}, protocol.Blame(v.Header.Sender, protocol.KindMalformed,
			fmt.Errorf("envelope: the body is not sealed to this session's key: %w", err))
	}
	return protocol.Message{Header: v.Header, Body: body}, nil
}

// split checks the sizes of an envelope and splits it into its parts. It copies nothing.
func split(wire []byte) (v Verified, signature []byte, err error) {
	const tail = encapsulationBytes + tagBytes + ed25519.SignatureSize
	if len(wire) > MaxBytes {
		return v, nil, fmt.Errorf("the message has %d bytes, but at most %d are allowed", len(wire), MaxBytes)
	}
	if len(wire) < prefixBytes+tail {
		return v, nil, fmt.Errorf("the message has %d bytes, which are too few", len(wire))
	}
	n := int(binary.LittleEndian.Uint16(wire))
	rest := wire[prefixBytes:]
	if n > maxHeaderBytes || n > len(rest)-tail {
		return v, nil, fmt.Errorf("the header has %d bytes, which are too many in a message of %d bytes", n, len(wire))
	}
	v.header, rest = rest[:n:n], rest[n:]
	cut := len(rest) - ed25519.SignatureSize
	if cut > encapsulationBytes+tagBytes+protocol.MaxChunkBytes {
		return v, nil, fmt.Errorf("the body has more than %d bytes, and no more are allowed", protocol.MaxChunkBytes)
	}
	v.sealed, signature = rest[:cut:cut], rest[cut:]
	v.Header, err = protocol.DecodeHeader(v.header)
	return v, signature, err
}

// These constants are the sizes of an envelope's parts in bytes.
const (
	prefixBytes    = 2 // the length of the header
	maxHeaderBytes = 1 << 10
	// encapsulationBytes is the size of an ML-KEM-768 ciphertext and an X25519 key.
	encapsulationBytes = 1088 + 32
	tagBytes           = 16

	// MaxOverhead is the largest number of bytes that an envelope adds to a body.
	MaxOverhead = prefixBytes + maxHeaderBytes + encapsulationBytes + tagBytes + ed25519.SignatureSize
	// MaxBytes is the size of the largest envelope that a receiver accepts.
	MaxBytes = protocol.MaxChunkBytes + MaxOverhead
)

const domain = "mercer/v1/msg"

func kdf() hpke.KDF   { return hpke.HKDFSHA256() }
func aead() hpke.AEAD { return hpke.AES256GCM() }

// signed returns the bytes that the signature covers. The header's encoding shows where it ends, so the
// concatenation has one reading only.
func signed(header, sealed []byte) []byte {
	digest := sha256.Sum256(sealed)
	b := make([]byte, 0, len(domain)+len(header)+len(digest))
	b = append(b, domain...)
	b = append(b, header...)
	return append(b, digest[:]...)
}
