package fdskl

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"

	"github.com/mercer-fl/mercer/linalg"
)

// keyBytes is the size of a public key.
const keyBytes = 32

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
