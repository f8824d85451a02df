package secagg

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"

	"github.com/mercer-fl/mercer/linalg"
)

// stream is a mask: AES-128 in counter mode, read as little-endian words. The
// counter starts at 0, because a key serves one stream in one session.
type stream struct {
	block    cipher.Block
	subtract bool
}

func newStream(key [32]byte, subtract bool) stream {
	block, err := aes.NewCipher(key[:16])
	if err != nil {
		panic("secagg: " + err.Error()) // 16 bytes are a key
	}
	return stream{block, subtract}
}

// negated is the mask that cancels s.
func (s stream) negated() stream { return stream{s.block, !s.subtract} }

// tileWords is how many words of a mask exist at a time: keystream and sums
// stay in the first-level cache.
const tileWords = 1024

// tile is room for a piece of keystream.
type tile struct{ zeros, key [8 * tileWords]byte }

// apply adds to dst the words of all masks from word first on, which is even.
// It works on all cores.
func apply(masks []stream, first int, dst []uint64) {
	linalg.For(len(dst), tileWords, func(lo, hi int) {
		var t tile
		for _, m := range masks {
			m.add(&t, first+lo, dst[lo:hi])
		}
	})
}

// add adds the mask's words from first on to at most a tile.
func (s stream) add(t *tile, first int, dst []uint64) {
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(first)/2)
	key := t.key[:8*len(dst)]
	cipher.NewCTR(s.block, counter[:]).XORKeyStream(key, t.zeros[:len(key)])
	if s.subtract {
		subtractWords(dst, key)
	} else {
		addWords(dst, key)
	}
}

func addWords(dst []uint64, key []byte) {
	key = key[:8*len(dst)]
	for len(dst) >= 4 {
		dst[0] += binary.LittleEndian.Uint64(key[0:])
		dst[1] += binary.LittleEndian.Uint64(key[8:])
		dst[2] += binary.LittleEndian.Uint64(key[16:])
		dst[3] += binary.LittleEndian.Uint64(key[24:])
		dst, key = dst[4:], key[32:]
	}
	for i := range dst {
		dst[i] += binary.LittleEndian.Uint64(key[8*i:])
	}
}

func subtractWords(dst []uint64, key []byte) {
	key = key[:8*len(dst)]
	for len(dst) >= 4 {
		dst[0] -= binary.LittleEndian.Uint64(key[0:])
		dst[1] -= binary.LittleEndian.Uint64(key[8:])
		dst[2] -= binary.LittleEndian.Uint64(key[16:])
		dst[3] -= binary.LittleEndian.Uint64(key[24:])
		dst, key = dst[4:], key[32:]
	}
	for i := range dst {
		dst[i] -= binary.LittleEndian.Uint64(key[8*i:])
	}
}
