package linalg

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/simd"
)

// Phases are stored as words, which are integers modulo 2^bits. A full turn is 2^bits, bits is 8,
// 16 or 32, and words are little-endian.

// checkWords panics unless the bytes hold the given number of words of 8, 16 or 32 bits.
func checkWords(bits, words, bytes int) {
	if bits != 8 && bits != 16 && bits != 32 || bytes != words*bits/8 {
		panic(fmt.Sprintf("linalg: %d words of %d bits in %d bytes", words, bits, bytes))
	}
}

// RoundTurns rounds phases, given in turns, to the nearest words and stores these in dst. A phase t
// must be finite; its word is floor(frac(t) 2^bits + 1/2), modulo 2^bits. It runs on one core; use
// it inside For. It panics unless bits is 8, 16 or 32 and dst has bits/8 bytes for each of turns.
func RoundTurns(dst []byte, turns []float64, bits int) {
	checkWords(bits, len(turns), len(dst))
	simd.RoundTurns(Paths()[0], dst, turns, bits)
}

// CosSin computes amplitude times the cosines and sines of phases. The results are accurate to some
// 2e-7. Each phase is a word of the given number of bits. It returns true if this machine has
// vector instructions for the computation. Otherwise it does nothing and returns false: a look-up
// is faster than computing cosines one by one. It runs on one core; use it inside For. It panics
// unless bits is 8, 16 or 32 and the numbers of cosines, sines and words agree.
func CosSin(cosines, sines []float32, words []byte, bits int, amplitude float32) bool {
	if len(sines) != len(cosines) {
		panic(fmt.Sprintf("linalg: %d cosines and %d sines", len(cosines), len(sines)))
	}
	checkWords(bits, len(cosines), len(words))
	return simd.Waves(Paths()[0], cosines, sines, words, bits, amplitude)
}

// AddWords adds the little-endian 64-bit words of src to dst, modulo 2^64. It panics unless src has
// 8 bytes for each value of dst.
func AddWords(dst []uint64, src []byte) {
	checkSums(dst, src)
	simd.AddWords(Paths()[0], dst, src)
}

// SubtractWords subtracts the little-endian 64-bit words of src from dst, modulo 2^64. It is the
// inverse of [AddWords].
func SubtractWords(dst []uint64, src []byte) {
	checkSums(dst, src)
	simd.SubtractWords(Paths()[0], dst, src)
}

func checkSums(dst []uint64, src []byte) {
	if len(src) != 8*len(dst) {
		panic(fmt.Sprintf("linalg: %d bytes for %d words of 8", len(src), len(dst)))
	}
}
