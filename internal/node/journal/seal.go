package journal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// keyLabel keeps the journal's key apart from everything else that is derived
// from a session's seed.
const keyLabel = "mercer/v1/journal"

// sealOverhead is a random nonce of 12 bytes and a tag of 16.
const sealOverhead = 12 + 16

// place identifies the position of a sealed piece; the piece opens nowhere else.
type place struct {
	kind   byte
	number uint64 // of the record
}

const (
	placeHeader = iota
	placeRecord
	placeBody
)

// sealer seals the pieces of one session's journal.
type sealer struct {
	aead   cipher.AEAD
	header [sha256.Size]byte // hash of the file's header
}

// newSealer derives the key from the seed and binds all pieces to header.
func newSealer(seed [SeedSize]byte, header []byte) (sealer, error) {
	key, err := hkdf.Key(sha256.New, seed[:], nil, keyLabel, 32)
	if err != nil {
		return sealer{}, fmt.Errorf("journal: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, fmt.Errorf("journal: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return sealer{}, fmt.Errorf("journal: %w", err)
	}
	return sealer{aead, sha256.Sum256(header)}, nil
}

// seal appends the sealed form of plain to dst.
func (s sealer) seal(dst []byte, at place, plain []byte) []byte {
	return s.aead.Seal(dst, nil, plain, s.data(at))
}

// open decrypts a sealed piece and appends it to dst.
func (s sealer) open(dst []byte, at place, sealed []byte) ([]byte, error) {
	return s.aead.Open(dst, nil, sealed, s.data(at))
}

func (s sealer) data(at place) []byte {
	b := append(make([]byte, 0, sha256.Size+9), s.header[:]...)
	return binary.LittleEndian.AppendUint64(append(b, at.kind), at.number)
}
