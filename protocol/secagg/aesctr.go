package secagg

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"

	"github.com/mercer-fl/mercer/linalg"
)

// AESCTR is the default [Masker]. It uses AES-128 in counter mode under the first 16 bytes of a
// mask's key, and reads the keystream as little-endian words. The counter starts at 0, because a
// key serves one mask in one session. AESCTR uses all cores.
type AESCTR struct{}

// tileWords is the number of words that are processed at a time. Their keystream and sums fit in
// the first-level cache.
const tileWords = 1024

// A strip is the range of words that one core processes. A strip has many tiles, because each
// mask's counter must be set up once for each strip. If the vector is too short for all cores,
// strips have fewer tiles.
const (
	maxStripTiles = 16
	leastStrips   = 16
)

func stripWords(words int) int {
	tiles := words / (leastStrips * tileWords)
	return tileWords * max(1, min(tiles, maxStripTiles))
}

// tile is scratch space for the keystream of tileWords words. The keystream is the encryption of
// zeros.
type tile struct{ zeros, key [8 * tileWords]byte }

// Add implements [Masker].
func (AESCTR) Add(dst []uint64, first int, masks []Mask) {
	blocks := make([]cipher.Block, len(masks))
	for i, m := range masks {
		blocks[i] = blockOf(m)
	}
	linalg.For(len(dst), stripWords(len(dst)), func(lo, hi int) { addStrip(dst[lo:hi], first+lo, masks, blocks) })
}

func blockOf(m Mask) cipher.Block {
	block, err := aes.NewCipher(m.Key[:16])
	if err != nil {
		panic("secagg: " + err.Error()) // cannot happen: the key has 16 bytes
	}
	return block
}

func addStrip(dst []uint64, first int, masks []Mask, blocks []cipher.Block) {
	var t tile
	running := make([]cipher.Stream, len(blocks))
	for i, b := range blocks {
		running[i] = streamFrom(b, first)
	}
	for ; len(dst) > 0; dst = dst[min(tileWords, len(dst)):] {
		part := dst[:min(tileWords, len(dst))]
		key := t.key[:8*len(part)]
		for i, m := range masks {
			running[i].XORKeyStream(key, t.zeros[:len(key)])
			if m.Subtract {
				linalg.SubtractWords(part, key)
			} else {
				linalg.AddWords(part, key)
			}
		}
	}
}

// streamFrom returns the keystream that begins at the given word, which must be even.
func streamFrom(b cipher.Block, word int) cipher.Stream {
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[8:], uint64(word)/2)
	return cipher.NewCTR(b, counter[:])
}
