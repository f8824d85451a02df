package prg

import (
	"crypto/aes"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// BlockBytes is the size of the blocks that [Stream.Seek] counts.
const BlockBytes = aes.BlockSize

// bufferBytes is the largest number of bytes that one call of the cipher produces. It makes the overhead of
// a call small and fits the first-level cache.
const bufferBytes = 1024

// Stream is an endless, seekable sequence of random bytes. It is not safe for concurrent
// use; make one for each worker.
type Stream struct {
	keys keystream
	pos  int // index of the first unread byte of buf
	end  int // number of bytes that buf holds
	buf  [bufferBytes]byte
}

// New returns the stream of random bytes that the seed, the label and the parts determine.
// Different (label, parts) give independent streams.
func New(seed [32]byte, label string, parts ...[]byte) *Stream {
	key := expand(seed, "mercer/v1/stream", label, parts)
	return &Stream{keys: newKeystream(&key)}
}

// Derive returns the seed that the seed, the label and the parts determine. It is independent of
// the stream with the same label.
func Derive(seed [32]byte, label string, parts ...[]byte) [32]byte {
	return expand(seed, "mercer/v1/derive", label, parts)
}

func expand(seed [32]byte, prefix, label string, parts [][]byte) [32]byte {
	info := []byte(prefix)
	info = appendPart(info, []byte(label))
	for _, p := range parts {
		info = appendPart(info, p)
	}
	key, err := hkdf.Key(sha256.New, seed[:], nil, string(info), 32)
	if err != nil {
		panic("prg: " + err.Error()) // unreachable: 32 bytes are within the limit of HKDF
	}
	return [32]byte(key)
}

func appendPart(info, part []byte) []byte {
	info = binary.LittleEndian.AppendUint32(info, uint32(len(part)))
	return append(info, part...)
}

// Seek moves to the first byte of the given block of the stream.
func (s *Stream) Seek(block uint64) {
	s.keys.seek(block)
	s.pos, s.end = 0, 0
}

func (s *Stream) fill() { s.fillAtMost(bufferBytes) }

// fillAtMost fills the buffer with n bytes, rounded up to a multiple of atOnce. If n is larger than
// the buffer, it fills the whole buffer.
func (s *Stream) fillAtMost(n int) {
	s.pos, s.end = 0, min((n+atOnce-1)/atOnce*atOnce, bufferBytes)
	s.keys.fill(s.buf[:s.end])
}

// Read fills p. It never fails, and returns len(p) and nil.
func (s *Stream) Read(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if s.pos == s.end {
			s.fill()
		}
		c := copy(p, s.buf[s.pos:s.end])
		s.pos += c
		p = p[c:]
	}
	return n, nil
}

// Uint64 returns the next eight bytes as a number.
func (s *Stream) Uint64() uint64 {
	if s.pos+8 > s.end {
		return s.straddle()
	}
	v := binary.LittleEndian.Uint64(s.buf[s.pos:])
	s.pos += 8
	return v
}

// straddle reads eight bytes that are not all in the buffer.
func (s *Stream) straddle() uint64 {
	var b [8]byte
	rest := copy(b[:], s.buf[s.pos:s.end])
	s.fill()
	s.pos = copy(b[rest:], s.buf[:])
	return binary.LittleEndian.Uint64(b[:])
}

// Uint64n returns a number below n without bias. It multiplies and rejects (Lemire, arXiv
// 1805.10941). It panics if n is zero.
func (s *Stream) Uint64n(n uint64) uint64 {
	if n == 0 {
		panic("prg: Uint64n of 0")
	}
	hi, lo := bits.Mul64(s.Uint64(), n)
	if lo < n {
		for least := -n % n; lo < least; {
			hi, lo = bits.Mul64(s.Uint64(), n)
		}
	}
	return hi
}

// Float64 returns a random multiple of 2^-53 in [0, 1).
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }

// Perm returns a random permutation of the numbers 0 to n-1.
func (s *Stream) Perm(n int) []int { return perm[int](s, n) }

// Perm32 returns the same permutation as Perm in half the memory.
func (s *Stream) Perm32(n int) []uint32 {
	if uint64(n) > 1<<32 {
		panic(fmt.Sprintf("prg: a permutation of %d does not fit 32 bits", n))
	}
	return perm[uint32](s, n)
}

// perm shuffles by the inside-out Fisher-Yates algorithm (Durstenfeld; Knuth, TAOCP 2, algorithm
// P). It calls Uint64n(i+1) once for each i from 0.
func perm[T int | uint32](s *Stream, n int) []T {
	p := make([]T, n)
	for i := range p {
		j := s.Uint64n(uint64(i) + 1)
		p[i] = p[j]
		p[j] = T(i)
	}
	return p
}

// Signs fills dst with the random signs +1 and -1. It takes one bit for each sign, 64 from each
// Uint64, the lowest bit first; a bit of 1 means -1.
func (s *Stream) Signs(dst []int8) {
	var word uint64
	for i := range dst {
		if i%64 == 0 {
			word = s.Uint64()
		}
		dst[i] = 1 - 2*int8(word&1)
		word >>= 1
	}
}
