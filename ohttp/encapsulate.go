package ohttp

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
)

// These are the labels of RFC 9458, sections 4.3 and 4.4.
const (
	requestLabel  = "message/bhttp request"
	responseLabel = "message/bhttp response"
)

const (
	headerSize = 7  // bytes of key id, key encapsulation, KDF and AEAD
	nonceSize  = 12 // bytes of an AES-GCM nonce (Nn in RFC 9180)
	tagSize    = 16
)

// Overhead is the number of bytes that sealing adds to a request.
const Overhead = headerSize + x25519Size + tagSize

// header returns the first bytes of a sealed request, which the seal authenticates.
func header(id byte, s Suite) []byte {
	b := binary.BigEndian.AppendUint16([]byte{id}, x25519)
	b = binary.BigEndian.AppendUint16(b, s.KDF)
	return binary.BigEndian.AppendUint16(b, s.AEAD)
}

func info(header []byte) []byte { return slices.Concat([]byte(requestLabel), []byte{0}, header) }

// Encapsulate seals a request, which package bhttp has encoded, to the gateway (RFC 9458,
// section 4.3). The returned opener opens the answer.
func (c KeyConfig) Encapsulate(request []byte) (sealed []byte, answer *Opener, err error) {
	i := slices.IndexFunc(c.Suites, Suite.supported)
	if i < 0 {
		return nil, nil, fmt.Errorf("ohttp: this program supports none of the ciphers of the gateway's key %d", c.ID)
	}
	suite := c.Suites[i]
	kdf, aead, err := suite.hpke()
	if err != nil {
		return nil, nil, err
	}
	head := header(c.ID, suite)
	enc, sender, err := hpke.NewSender(c.public, kdf, aead, info(head))
	if err != nil {
		return nil, nil, fmt.Errorf("ohttp: cannot seal a request: %w", err)
	}
	ct, err := sender.Seal(nil, request)
	if err != nil {
		return nil, nil, fmt.Errorf("ohttp: cannot seal a request: %w", err)
	}
	secret, err := sender.Export(responseLabel, max(suite.keySize(), nonceSize))
	if err != nil {
		return nil, nil, fmt.Errorf("ohttp: cannot seal a request: %w", err)
	}
	return slices.Concat(head, enc, ct), &Opener{suite, enc, secret}, nil
}

// Decapsulate opens a sealed request (RFC 9458, section 4.3). The returned sealer seals the
// answer.
func (k *Key) Decapsulate(sealed []byte) (request []byte, answer *Sealer, err error) {
	if len(sealed) < Overhead {
		return nil, nil, fmt.Errorf("ohttp: the sealed request has %d bytes; at least %d are required", len(sealed), Overhead)
	}
	suite := Suite{binary.BigEndian.Uint16(sealed[3:]), binary.BigEndian.Uint16(sealed[5:])}
	if sealed[0] != k.id || binary.BigEndian.Uint16(sealed[1:]) != x25519 {
		return nil, nil, fmt.Errorf("ohttp: the request is sealed to key %d with encapsulation %#04x; it must be sealed to key %d with X25519", sealed[0], sealed[1:3], k.id)
	}
	kdf, aead, err := suite.hpke()
	if err != nil {
		return nil, nil, err
	}
	enc := sealed[headerSize : headerSize+x25519Size]
	recipient, err := hpke.NewRecipient(enc, k.private, kdf, aead, info(sealed[:headerSize]))
	if err != nil {
		return nil, nil, fmt.Errorf("ohttp: cannot open a request: %w", err)
	}
	if request, err = recipient.Open(nil, sealed[headerSize+x25519Size:]); err != nil {
		return nil, nil, fmt.Errorf("ohttp: cannot open a request: %w", err)
	}
	secret, err := recipient.Export(responseLabel, max(suite.keySize(), nonceSize))
	if err != nil {
		return nil, nil, fmt.Errorf("ohttp: cannot open a request: %w", err)
	}
	return request, &Sealer{suite, slices.Clone(enc), secret}, nil
}

// Sealer seals the answer to one request.
type Sealer struct {
	suite       Suite
	enc, secret []byte
}

// Seal seals the answer (RFC 9458, section 4.4).
func (s *Sealer) Seal(response []byte) ([]byte, error) {
	nonce := make([]byte, max(s.suite.keySize(), nonceSize))
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("ohttp: cannot seal an answer: %w", err)
	}
	return s.sealWith(nonce, response)
}

func (s *Sealer) sealWith(nonce, response []byte) ([]byte, error) {
	aead, iv, err := responseCipher(s.suite, s.enc, s.secret, nonce)
	if err != nil {
		return nil, err
	}
	return aead.Seal(slices.Clone(nonce), iv, response, nil), nil
}

// Opener opens the answer to one request.
type Opener struct {
	suite       Suite
	enc, secret []byte
}

// Open opens the sealed answer (RFC 9458, section 4.4).
func (o *Opener) Open(sealed []byte) ([]byte, error) {
	n := max(o.suite.keySize(), nonceSize)
	if len(sealed) < n+tagSize {
		return nil, fmt.Errorf("ohttp: the sealed answer has %d bytes; at least %d are required", len(sealed), n+tagSize)
	}
	aead, iv, err := responseCipher(o.suite, o.enc, o.secret, sealed[:n])
	if err != nil {
		return nil, err
	}
	response, err := aead.Open(nil, iv, sealed[n:], nil)
	if err != nil {
		return nil, fmt.Errorf("ohttp: cannot open an answer: %w", err)
	}
	return response, nil
}

// responseCipher derives the cipher and the nonce that seal an answer.
func responseCipher(s Suite, enc, secret, nonce []byte) (cipher.AEAD, []byte, error) {
	fail := func(err error) (cipher.AEAD, []byte, error) {
		return nil, nil, fmt.Errorf("ohttp: cannot derive the key of an answer: %w", err)
	}
	prk, err := hkdf.Extract(sha256.New, secret, slices.Concat(enc, nonce))
	if err != nil {
		return fail(err)
	}
	key, err := hkdf.Expand(sha256.New, prk, "key", s.keySize())
	if err != nil {
		return fail(err)
	}
	iv, err := hkdf.Expand(sha256.New, prk, "nonce", nonceSize)
	if err != nil {
		return fail(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return fail(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return fail(err)
	}
	return aead, iv, nil
}
