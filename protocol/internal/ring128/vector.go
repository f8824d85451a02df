package ring128

import (
	"encoding/binary"
	"fmt"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
)

// Bytes is the length of an encoded word.
const Bytes = 16

// Append appends the words to dst, each in 16 bytes, little-endian.
func Append(dst []byte, words []Word) []byte {
	for _, w := range words {
		dst = binary.LittleEndian.AppendUint64(dst, w.Lo)
		dst = binary.LittleEndian.AppendUint64(dst, w.Hi)
	}
	return dst
}

// Decode sets dst to the words of b. It refuses any length but 16 bytes for each word of dst; every
// sequence of 16 bytes is a word. The caller sizes dst by what it expects, never by what it received.
func Decode(dst []Word, b []byte) error {
	if len(b) != Bytes*len(dst) {
		return fmt.Errorf("ring128: the encoding has %d bytes; %d words of %d bytes each are required", len(b), len(dst), Bytes)
	}
	for i := range dst {
		dst[i] = Word{binary.LittleEndian.Uint64(b[Bytes*i+8:]), binary.LittleEndian.Uint64(b[Bytes*i:])}
	}
	return nil
}

// Draw sets dst to the next words of a stream, in the encoding of [Append]. Words of a fresh stream are
// uniform.
func Draw(dst []Word, s *prg.Stream) {
	for i := range dst {
		lo := s.Uint64()
		dst[i] = Word{s.Uint64(), lo}
	}
}

// FromInts returns the words of whole numbers.
func FromInts(v []int64) []Word {
	words := make([]Word, len(v))
	for i, x := range v {
		words[i] = FromInt64(x)
	}
	return words
}

// Add adds x to dst, word by word. It panics unless there are equally many.
func Add(dst, x []Word) {
	checkLengths(dst, x)
	for i, w := range x {
		dst[i] = dst[i].Add(w)
	}
}

// Sub subtracts x from dst, word by word. It panics unless there are equally many.
func Sub(dst, x []Word) {
	checkLengths(dst, x)
	for i, w := range x {
		dst[i] = dst[i].Sub(w)
	}
}

// AddScaled adds c x to dst, word by word. It panics unless there are equally many.
func AddScaled(dst []Word, c Word, x []Word) {
	checkLengths(dst, x)
	for i, w := range x {
		dst[i] = dst[i].Add(c.Mul(w))
	}
}

// Lsh multiplies each word of v by 2^n.
func Lsh(v []Word, n uint) {
	for i, w := range v {
		v[i] = w.Lsh(n)
	}
}

// TruncateFirst replaces each share z of the first holder by floor(z / 2^f), of the signed z. See the
// package's comment for the error.
func TruncateFirst(z []Word, f uint) {
	for i, w := range z {
		z[i] = w.Rsh(f)
	}
}

// TruncateSecond replaces each share z of the second holder by -floor(-z / 2^f), of the signed z.
func TruncateSecond(z []Word, f uint) {
	for i, w := range z {
		z[i] = w.Neg().Rsh(f).Neg()
	}
}

// Round replaces each number z by the nearest whole number to z / 2^f, the greater one if two are as
// near. It is for numbers that are not shared. f is from 1 to 126, and |z| is below 2^126.
func Round(z []Word, f uint) {
	half := Word{Lo: 1}.Lsh(f - 1)
	for i, w := range z {
		z[i] = w.Add(half).Rsh(f)
	}
}

func checkLengths(dst, x []Word) {
	if len(dst) != len(x) {
		panic(fmt.Sprintf("ring128: %d and %d words", len(dst), len(x)))
	}
}
