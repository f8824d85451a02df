package fdskl

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// keyBytes is the size of a public key.
const keyBytes = 32

// sessionKey is a worker's X25519 key, which lives as long as its session.
func sessionKey(s protocol.Setup) (*ecdh.PrivateKey, error) {
	id := s.Session.ID()
	seed := prg.Derive(s.Seed, "fdskl/key", id[:])
	key, err := ecdh.X25519().NewPrivateKey(seed[:])
	if err != nil {
		return nil, fmt.Errorf("fdskl: %w", err)
	}
	return key, nil
}

// agree is Diffie-Hellman. A key of low order, which would give a secret that
// everybody knows, is an error.
func agree(own *ecdh.PrivateKey, other []byte) ([32]byte, error) {
	public, err := ecdh.X25519().NewPublicKey(other)
	if err != nil {
		return [32]byte{}, fmt.Errorf("fdskl: %w", err)
	}
	secret, err := own.ECDH(public)
	if err != nil {
		return [32]byte{}, fmt.Errorf("fdskl: %w", err)
	}
	return [32]byte(secret), nil
}

// mask is a keystream to be added to words or taken off: AES-128 in counter
// mode. Each chunk of a request has a part of the counter's range to itself.
type mask struct {
	block    cipher.Block
	subtract bool
}

func newMask(key [32]byte, subtract bool) mask {
	block, err := aes.NewCipher(key[:16])
	if err != nil {
		panic("fdskl: " + err.Error()) // 16 bytes are a key
	}
	return mask{block, subtract}
}

// pairMasks returns the masks that worker self shares with the others for one request:
// r_l = sum over m > l of PRG_lm - sum over m < l of PRG_lm, so that the masks of
// all workers add up to nothing.
func pairMasks(id protocol.SessionID, self int, shared [][32]byte, request [sha256.Size]byte) []mask {
	var list []mask
	for other, secret := range shared {
		if other != self {
			list = append(list, newMask(prg.Derive(secret, "fdskl/pair", id[:], request[:]), other < self))
		}
	}
	return list
}

// ownMask is worker-private: mode paper's b^l, fresh for each (row, direction,
// request). One mask for each direction, as the paper has it, would give the
// difference of two rows' phases to anybody who receives both.
func ownMask(s protocol.Setup, request [sha256.Size]byte) mask {
	id := s.Session.ID()
	return newMask(prg.Derive(s.Seed, "fdskl/own", id[:], request[:]), false)
}

const (
	stripBytes = 64 << 10 // what one core does at a time
	tileBytes  = 8 << 10  // stays in the first-level cache
)

// apply puts masks onto the words of one chunk, on all cores.
func (r ring) apply(masks []mask, chunk int, words []byte) {
	linalg.For(len(words), stripBytes, func(lo, hi int) {
		var t tile
		for _, m := range masks {
			m.strip(r, &t, chunk, lo, words[lo:hi])
		}
	})
}

// tile is room for a piece of keystream.
type tile struct{ zeros, key [tileBytes]byte }

// strip masks the words that begin at byte first of the chunk.
func (m mask) strip(r ring, t *tile, chunk, first int, words []byte) {
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[:], uint64(chunk))
	binary.BigEndian.PutUint64(counter[8:], uint64(first/aes.BlockSize))
	stream := cipher.NewCTR(m.block, counter[:])
	for ; len(words) > 0; words = words[min(tileBytes, len(words)):] {
		part := words[:min(tileBytes, len(words))]
		key := t.key[:len(part)]
		stream.XORKeyStream(key, t.zeros[:len(part)])
		if m.subtract {
			r.sub(part, key)
		} else {
			r.add(part, key)
		}
	}
}

// directionPhases are mode paper's b, one for each direction of the request,
// from whichever passive worker is drawn to add it (the paper's l', line 6 of
// Algorithm 3): the share of worker self, zero where another one was drawn. Both
// depend on the direction only, since phases of one direction that differ from
// row to row would make its feature worthless.
func directionPhases(s protocol.Setup, self, workers int, d Span, r ring) []byte {
	id := s.Session.ID()
	drawn := prg.New(id, "fdskl/drawn")
	own := prg.New(s.Seed, "fdskl/phase", id[:])
	row := make([]byte, d.Count*r.bytes())
	for j := range d.Count {
		block := uint64(d.First + j)
		drawn.Seek(block)
		if 1+int(drawn.Uint64n(uint64(workers-1))) == self {
			own.Seek(block)
			r.put(row, j, uint32(own.Uint64()))
		}
	}
	return row
}
