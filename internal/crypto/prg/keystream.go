package prg

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// keystream is the output of AES-256 in counter mode, from any block on.
type keystream interface {
	seek(block uint64)
	// fill sets dst to the next bytes of the keystream. The length of dst is a multiple of atOnce.
	fill(dst []byte)
}

// atOnce is the number of bytes that a keystream fills at a time.
const atOnce = 16 * BlockBytes

// counterMode is a keystream by the standard library. It allocates new memory for each seek.
type counterMode struct {
	block cipher.Block
	ctr   cipher.Stream
}

func newCounterMode(key *[32]byte) *counterMode {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("prg: " + err.Error()) // unreachable: a key of 32 bytes is always accepted
	}
	c := &counterMode{block: block}
	c.seek(0)
	return c
}

func (c *counterMode) seek(block uint64) {
	var iv [aes.BlockSize]byte
	binary.BigEndian.PutUint64(iv[8:], block)
	c.ctr = cipher.NewCTR(c.block, iv[:])
}

func (c *counterMode) fill(dst []byte) {
	clear(dst)
	c.ctr.XORKeyStream(dst, dst)
}
