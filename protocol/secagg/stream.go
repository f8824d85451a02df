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

// tileWords is how many words are worked on at a time: their keystream and sums
// stay in the first-level cache.
const tileWords = 1024

// A strip is what one core does. For it each mask's cipher is set up once, so
// it has many tiles, unless the vector is too short to give every core some.
const (
	maxStripTiles = 16
	leastStrips   = 16
)

func stripWords(words int) int {
	tiles := words / (leastStrips * tileWords)
	return tileWords * max(1, min(tiles, maxStripTiles))
}

// tile is room for a piece of keystream.
type tile struct{ zeros, key [8 * tileWords]byte }

// apply adds to dst the words of all masks from word first on, which is even.
// It works on all cores.
func apply(masks []stream, first int, dst []uint64) {
	linalg.For(len(dst), stripWords(len(dst)), func(lo, hi int) { applyStrip(masks, first+lo, dst[lo:hi]) })
}

func applyStrip(masks []stream, first int, dst []uint64) {
	var t tile
	running := make([]cipher.Stream, len(masks))
	for i, m := range masks {
		running[i] = m.from(first)
	}
	for ; len(dst) > 0; dst = dst[min(tileWords, len(dst)):] {
		part := dst[:min(tileWords, len(dst))]
		key := t.key[:8*len(part)]
		for i, m := range masks {
			running[i].XORKeyStream(key, t.zeros[:len(key)])
			m.add(part, key)
		}
	}
}

// from is the keystream from an even word on.
func (s stream) from(word int) cipher.Stream {
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(word)/2)
	return cipher.NewCTR(s.block, counter[:])
}

func (s stream) add(dst []uint64, key []byte) {
	if s.subtract {
		linalg.SubtractWords(dst, key)
	} else {
		linalg.AddWords(dst, key)
	}
}

// Expand adds to dst the masks that belong to the keys, as clients and server
// do: exported to be measured.
func Expand(dst []uint64, keys [][32]byte) {
	masks := make([]stream, len(keys))
	for i, key := range keys {
		masks[i] = newStream(key, i%2 == 1)
	}
	apply(masks, 0, dst)
}
