package ohttp

import (
	"crypto/hpke"
	"encoding/binary"
	"errors"
	"fmt"
)

// These are the media types of RFC 9458, section 9.
const (
	KeysType     = "application/ohttp-keys"
	RequestType  = "message/ohttp-req"
	ResponseType = "message/ohttp-res"
)

// These are identifiers of algorithms in RFC 9180, section 7.
const (
	x25519     uint16 = 0x0020
	hkdfSHA256 uint16 = 0x0001
	aes128GCM  uint16 = 0x0001
	aes256GCM  uint16 = 0x0002
)

// x25519Size is the number of bytes of a public key and of an encapsulated key.
const x25519Size = 32

// Suite is a pair of a key derivation function and a cipher.
type Suite struct{ KDF, AEAD uint16 }

// supported reports whether this package implements the suite.
func (s Suite) supported() bool {
	return s.KDF == hkdfSHA256 && (s.AEAD == aes128GCM || s.AEAD == aes256GCM)
}

// keySize returns the number of bytes of the cipher's key (Nk in RFC 9180).
func (s Suite) keySize() int {
	if s.AEAD == aes256GCM {
		return 32
	}
	return 16
}

// hpke returns the suite as types of package crypto/hpke.
func (s Suite) hpke() (hpke.KDF, hpke.AEAD, error) {
	if !s.supported() {
		return nil, nil, fmt.Errorf("ohttp: KDF %#04x with AEAD %#04x is not supported; use HKDF-SHA256 with AES-128-GCM or AES-256-GCM", s.KDF, s.AEAD)
	}
	if s.AEAD == aes256GCM {
		return hpke.HKDFSHA256(), hpke.AES256GCM(), nil
	}
	return hpke.HKDFSHA256(), hpke.AES128GCM(), nil
}

// KeyConfig holds a gateway's public key and its cipher suites (RFC 9458, section 3).
type KeyConfig struct {
	ID     byte
	Suites []Suite
	public hpke.PublicKey
}

// Encode returns the configuration in the encoding of RFC 9458, section 3.1.
func (c KeyConfig) Encode() []byte {
	b := binary.BigEndian.AppendUint16([]byte{c.ID}, x25519)
	b = append(b, c.public.Bytes()...)
	b = binary.BigEndian.AppendUint16(b, uint16(4*len(c.Suites)))
	for _, s := range c.Suites {
		b = binary.BigEndian.AppendUint16(b, s.KDF)
		b = binary.BigEndian.AppendUint16(b, s.AEAD)
	}
	return b
}

// EncodeKeys encodes a list of configurations in format [KeysType]. The preferred configuration
// is first.
func EncodeKeys(configs ...KeyConfig) []byte {
	var b []byte
	for _, c := range configs {
		one := c.Encode()
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(one))), one...)
	}
	return b
}

// ParseKeys decodes a list of configurations. It omits configurations whose key encapsulation
// this package does not support.
func ParseKeys(b []byte) ([]KeyConfig, error) {
	var configs []KeyConfig
	for len(b) > 0 {
		if len(b) < 2 || len(b)-2 < int(binary.BigEndian.Uint16(b)) {
			return nil, errConfig
		}
		one := b[2 : 2+binary.BigEndian.Uint16(b)]
		b = b[2+len(one):]
		if len(one) >= 3 && binary.BigEndian.Uint16(one[1:]) != x25519 {
			continue
		}
		c, err := ParseKeyConfig(one)
		if err != nil {
			return nil, err
		}
		configs = append(configs, c)
	}
	if configs == nil {
		return nil, errors.New("ohttp: the list of keys has no key for X25519; one is required")
	}
	return configs, nil
}

var errConfig = errors.New("ohttp: the length of the key configuration does not match its content")

// ParseKeyConfig decodes one configuration.
func ParseKeyConfig(b []byte) (KeyConfig, error) {
	const head = 3 + x25519Size + 2
	if len(b) < 3 {
		return KeyConfig{}, errConfig
	}
	if kem := binary.BigEndian.Uint16(b[1:]); kem != x25519 {
		return KeyConfig{}, fmt.Errorf("ohttp: key encapsulation %#04x is not supported; use X25519 (0x0020)", kem)
	}
	if len(b) < head {
		return KeyConfig{}, errConfig
	}
	c := KeyConfig{ID: b[0]}
	var err error
	if c.public, err = publicKey(b[3 : 3+x25519Size]); err != nil {
		return KeyConfig{}, err
	}
	list := b[head:]
	if len(list) != int(binary.BigEndian.Uint16(b[head-2:])) || len(list)%4 != 0 || len(list) == 0 {
		return KeyConfig{}, errConfig
	}
	for ; len(list) > 0; list = list[4:] {
		c.Suites = append(c.Suites, Suite{binary.BigEndian.Uint16(list), binary.BigEndian.Uint16(list[2:])})
	}
	return c, nil
}

func publicKey(b []byte) (hpke.PublicKey, error) {
	kem, err := hpke.NewKEM(x25519)
	if err != nil {
		return nil, fmt.Errorf("ohttp: %w", err)
	}
	k, err := kem.NewPublicKey(b)
	if err != nil {
		return nil, fmt.Errorf("ohttp: the public key is not a point of X25519: %w", err)
	}
	return k, nil
}

// Key is a gateway's secret key, which opens requests.
type Key struct {
	id      byte
	private hpke.PrivateKey
}

// NewKey derives a key from a secret seed of 32 bytes or more. The id distinguishes the key
// from the gateway's other keys.
func NewKey(id byte, seed []byte) (*Key, error) {
	if len(seed) < 32 {
		return nil, fmt.Errorf("ohttp: the seed has %d bytes; use 32 or more", len(seed))
	}
	kem, err := hpke.NewKEM(x25519)
	if err != nil {
		return nil, fmt.Errorf("ohttp: %w", err)
	}
	private, err := kem.DeriveKeyPair(seed)
	if err != nil {
		return nil, fmt.Errorf("ohttp: %w", err)
	}
	return &Key{id, private}, nil
}

// Config returns the public configuration that clients need.
func (k *Key) Config() KeyConfig {
	return KeyConfig{ID: k.id, public: k.private.PublicKey(), Suites: []Suite{{hkdfSHA256, aes128GCM}, {hkdfSHA256, aes256GCM}}}
}
