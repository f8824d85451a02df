package fdskl

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"

	"github.com/mercer-fl/mercer/linalg"
)

// keyBytes is the size of an X25519 public key.
const keyBytes = 32

// mask is a keystream of AES-128 in counter mode that is added to words or subtracted from them.
// Each chunk of a request has its own part of the counter's range.
type mask struct {
	block    cipher.Block
	subtract bool
}

func newMask(key [32]byte, subtract bool) mask {
	block, err := aes.NewCipher(key[:16])
	if err != nil {
		panic("fdskl: " + err.Error()) // cannot happen: the key has 16 bytes
	}
	return mask{block, subtract}
}

const (
	stripBytes = 64 << 10 // bytes that one core processes at a time
	tileBytes  = 8 << 10  // bytes of keystream that are computed at a time; they fit in the first-level cache
)

// apply adds masks to the words of one chunk, or subtracts them, on all cores.
func (r ring) apply(masks []mask, chunk int, words []byte) {
	linalg.For(len(words), stripBytes, func(lo, hi int) {
		var t tile
		for _, m := range masks {
			m.strip(r, &t, chunk, lo, words[lo:hi])
		}
	})
}

// tile is scratch space for tileBytes bytes of keystream. The keystream is the encryption of zeros.
type tile struct{ zeros, key [tileBytes]byte }

// strip adds the mask to some words of a chunk, or subtracts it from them. The argument offset is
// the position of the first of these words in the chunk, in bytes.
func (m mask) strip(r ring, t *tile, chunk, offset int, words []byte) {
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[:], uint64(chunk))
	binary.BigEndian.PutUint64(counter[8:], uint64(offset/aes.BlockSize))
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

// ring is the ring of integers modulo 2^bits. The value of the type is the number of bits: 8, 16 or
// 32. Words are packed into bytes, little-endian. Eight bytes are processed at a time; the top bit
// of each word is handled separately, so that no carry leaves the word.
type ring int

func (r ring) bytes() int { return int(r) / 8 }

// tops returns a mask of 64 bits in which the highest bit of every word is set.
func (r ring) tops() uint64 {
	switch r {
	case 8:
		return 0x8080808080808080
	case 16:
		return 0x8000800080008000
	default:
		return 0x8000000080000000
	}
}

// add adds the words of src to the words of dst. src must be at least as long as dst.
func (r ring) add(dst, src []byte) {
	h, order := r.tops(), binary.LittleEndian
	for len(dst) >= 8 && len(src) >= 8 {
		a, b := order.Uint64(dst), order.Uint64(src)
		order.PutUint64(dst, (a&^h+b&^h)^(a^b)&h)
		dst, src = dst[8:], src[8:]
	}
	for i := range len(dst) / r.bytes() {
		r.put(dst, i, r.word(dst, i)+r.word(src, i))
	}
}

// sub subtracts the words of src from the words of dst.
func (r ring) sub(dst, src []byte) {
	h, order := r.tops(), binary.LittleEndian
	for len(dst) >= 8 && len(src) >= 8 {
		a, b := order.Uint64(dst), order.Uint64(src)
		order.PutUint64(dst, ((a|h)-b&^h)^(a^^b)&h)
		dst, src = dst[8:], src[8:]
	}
	for i := range len(dst) / r.bytes() {
		r.put(dst, i, r.word(dst, i)-r.word(src, i))
	}
}

// word returns word i of b.
func (r ring) word(b []byte, i int) uint32 {
	switch r {
	case 8:
		return uint32(b[i])
	case 16:
		return uint32(binary.LittleEndian.Uint16(b[2*i:]))
	default:
		return binary.LittleEndian.Uint32(b[4*i:])
	}
}

// put sets word i of b to the lowest bits of v.
func (r ring) put(b []byte, i int, v uint32) {
	switch r {
	case 8:
		b[i] = byte(v)
	case 16:
		binary.LittleEndian.PutUint16(b[2*i:], uint16(v))
	default:
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
}
