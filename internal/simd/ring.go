package simd

import (
	"encoding/binary"
	"math"
)

// rounding rounds n phases to words. waves computes the cosines and sines of n words, times
// amplitude.
type (
	rounding = func(n int, dst []byte, turns []float64)
	waves    = func(n int, cosines, sines []float32, words []byte, amplitude float32)
)

// ring holds a path's functions for words of 8, 16 and 32 bits. The number of phases that a function
// in round takes is a multiple of turns. The number of words that a function in waves takes is a
// multiple of words.
type ring struct {
	turns int
	round [3]rounding
	words int
	waves [3]waves // functions for words of 8, 16 and 32 bits; nil if the path has none
}

func portableRing() ring {
	return ring{turns: 1, round: [3]rounding{roundTurns8, roundTurns16, roundTurns32}}
}

// RoundTurns rounds finite phases in turns to words of 8, 16 or 32 bits in dst. A word is
// floor(frac(t) 2^bits + 1/2) modulo 2^bits, little-endian.
func RoundTurns(p Path, dst []byte, turns []float64, bits int) {
	r, place := ringOf(p), bits/16
	n := len(turns) &^ (r.turns - 1)
	r.round[place](n, dst, turns)
	portableRing().round[place](len(turns)-n, dst[n*bits/8:], turns[n:])
}

// Waves computes amplitude times the cosines and sines of words of 8, 16 or 32 bits. The results
// are accurate to some 2e-7. Waves then returns true. On a path without instructions for this, it
// does nothing and returns false.
func Waves(p Path, cosines, sines []float32, words []byte, bits int, amplitude float32) bool {
	r := ringOf(p)
	waves := r.waves[bits/16]
	if waves == nil {
		return false
	}
	n := len(cosines) &^ (r.words - 1)
	waves(n, cosines, sines, words, amplitude)
	if n < len(cosines) {
		var c, s [Widest]float32
		var w [4 * Widest]byte
		copy(w[:], words[n*bits/8:])
		waves(r.words, c[:], s[:], w[:], amplitude)
		copy(cosines[n:], c[:])
		copy(sines[n:], s[:])
	}
	return true
}

// roundTurns8, roundTurns16 and roundTurns32 return the same bits as the functions in assembly.
func roundTurns8(n int, dst []byte, turns []float64) {
	for i, t := range turns[:n] {
		dst[i] = byte(nearest(t, 1<<8))
	}
}

func roundTurns16(n int, dst []byte, turns []float64) {
	for i, t := range turns[:n] {
		binary.LittleEndian.PutUint16(dst[2*i:], uint16(nearest(t, 1<<16)))
	}
}

func roundTurns32(n int, dst []byte, turns []float64) {
	for i, t := range turns[:n] {
		binary.LittleEndian.PutUint32(dst[4*i:], uint32(nearest(t, 1<<32)))
	}
}

// nearest rounds a phase in turns to the nearest word. Product and sum round only once, as a fused
// multiply-add does, because a product with a power of two is exact.
func nearest(turns, size float64) int64 { return int64((turns-math.Floor(turns))*size + 0.5) }

// words holds functions that add and subtract integers modulo 2^64, a block of integers at a time.
type words struct {
	block         int
	add, subtract func(n int, dst []uint64, src []byte)
}

func portableWords() words { return words{1, addWordsPortable, subtractWordsPortable} }

// AddWords adds the little-endian words of src to dst, modulo 2^64. src has 8 bytes for each entry
// of dst.
func AddWords(p Path, dst []uint64, src []byte) {
	w := wordsOf(p)
	n := len(dst) &^ (w.block - 1)
	w.add(n, dst, src)
	addWordsPortable(len(dst)-n, dst[n:], src[8*n:])
}

// SubtractWords subtracts the little-endian words of src from dst, modulo 2^64.
func SubtractWords(p Path, dst []uint64, src []byte) {
	w := wordsOf(p)
	n := len(dst) &^ (w.block - 1)
	w.subtract(n, dst, src)
	subtractWordsPortable(len(dst)-n, dst[n:], src[8*n:])
}

// addWordsPortable adds words in plain Go, like the functions in assembly.
func addWordsPortable(n int, dst []uint64, src []byte) {
	for i := range dst[:n] {
		dst[i] += binary.LittleEndian.Uint64(src[8*i:])
	}
}

func subtractWordsPortable(n int, dst []uint64, src []byte) {
	for i := range dst[:n] {
		dst[i] -= binary.LittleEndian.Uint64(src[8*i:])
	}
}
