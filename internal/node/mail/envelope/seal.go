package envelope

import (
	"crypto/ed25519"
	"crypto/hpke"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// Seal encrypts body to the receiver's key and signs the envelope in the sender's name. The result
// is at most [MaxBytes] long. body is at most [protocol.MaxChunkBytes] and is not changed.
func Seal(h protocol.Header, body []byte, to hpke.PublicKey, from ed25519.PrivateKey) ([]byte, error) {
	if err := sealable(h, body, to, from); err != nil {
		return nil, fmt.Errorf("envelope: %w", err)
	}
	header := h.Encode()
	// NewSender and Seal do the work of hpke.Seal, but without a copy of the body.
	encapsulation, sender, err := hpke.NewSender(to, kdf(), aead(), header)
	if err != nil {
		return nil, fmt.Errorf("envelope: %v: %w", h, err)
	}
	ciphertext, err := sender.Seal(nil, body)
	if err != nil {
		return nil, fmt.Errorf("envelope: %v: %w", h, err)
	}
	return assemble(header, encapsulation, ciphertext, from), nil
}

// Size returns the number of bytes of an envelope around a body of the given number of bytes.
func Size(h protocol.Header, body int) int {
	return prefixBytes + len(h.Encode()) + encapsulationBytes + body + tagBytes + ed25519.SignatureSize
}

// assemble joins the parts of an envelope and appends the signature.
func assemble(header, encapsulation, ciphertext []byte, from ed25519.PrivateKey) []byte {
	sealedBytes := len(encapsulation) + len(ciphertext)
	wire := make([]byte, 0, prefixBytes+len(header)+sealedBytes+ed25519.SignatureSize)
	wire = binary.LittleEndian.AppendUint16(wire, uint16(len(header)))
	wire = append(wire, header...)
	wire = append(wire, encapsulation...)
	wire = append(wire, ciphertext...)
	sealed := wire[len(wire)-sealedBytes:]
	return append(wire, ed25519.Sign(from, signed(header, sealed))...)
}

// sealable rejects a message that every receiver would reject.
func sealable(h protocol.Header, body []byte, to hpke.PublicKey, from ed25519.PrivateKey) error {
	if err := h.Validate(); err != nil {
		return err
	}
	switch {
	case len(body) > protocol.MaxChunkBytes:
		return fmt.Errorf("the body has %d bytes, but at most %d are allowed", len(body), protocol.MaxChunkBytes)
	case to == nil || to.KEM() != hpke.MLKEM768X25519():
		return errors.New("the receiver's key is not for ML-KEM-768 + X25519")
	case len(from) != ed25519.PrivateKeySize:
		return fmt.Errorf("the signing key has the wrong length of %d bytes", len(from))
	}
	return nil
}
