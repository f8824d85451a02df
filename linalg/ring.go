package linalg

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Phases as words: numbers modulo 2^bits, a full turn being 2^bits. bits is 8, 16
// or 32, and words are little-endian.

// rounding makes words of n turns; waves makes cosines and sines of n words.
type (
	rounding = func(n int, dst []byte, turns []float64)
	waves    = func(n int, cosines, sines []float32, words []byte, amplitude float32)
)

// ring holds a path's functions for words of 8, 16 and 32 bits. round makes a
// multiple of turns words, waves a multiple of words values.
type ring struct {
	turns int
	round [3]rounding
	words int
	waves [3]waves // nil where there are none
}

func portableRing() ring {
	return ring{turns: 1, round: [3]rounding{roundTurns8, roundTurns16, roundTurns32}}
}

// placeOf returns where ring has functions of words, which fill that number of bytes.
func placeOf(bits, words, bytes int) int {
	place := slices.Index([]int{8, 16, 32}, bits)
	if place < 0 || bytes != words*bits/8 {
		panic(fmt.Sprintf("linalg: %d words of %d bits in %d bytes", words, bits, bytes))
	}
	return place
}

// RoundTurns sets dst to the nearest words of phases in turns, which are finite:
// floor(frac(t) 2^bits + 1/2), without the bit beyond. It runs on one core; use
// it inside For. It panics unless bits is 8, 16 or 32 and dst has bits/8 bytes
// for each of turns.
func RoundTurns(dst []byte, turns []float64, bits int) { roundTurnsOn(Paths()[0], dst, turns, bits) }

func roundTurnsOn(p Path, dst []byte, turns []float64, bits int) {
	r, place := ringOf(p), placeOf(bits, len(turns), len(dst))
	n := len(turns) &^ (r.turns - 1)
	r.round[place](n, dst, turns)
	portableRing().round[place](len(turns)-n, dst[n*bits/8:], turns[n:])
}

// roundTurns8 and its like are the twins of the functions in assembly, bit for
// bit.
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

// nearest rounds once only, since a product with a power of two is exact.
func nearest(turns, size float64) int64 { return int64((turns-math.Floor(turns))*size + 0.5) }

// Waves sets cosines and sines to amplitude times the values of phases in words of
// bits, to some 2e-7, and returns true, where this machine has instructions for
// that; elsewhere it does nothing: looking them up is faster than computing them
// one by one. It runs on one core; use it inside For. It panics unless bits is
// 8, 16 or 32 and there are as many cosines, sines and words.
func Waves(cosines, sines []float32, words []byte, bits int, amplitude float32) bool {
	return wavesOn(Paths()[0], cosines, sines, words, bits, amplitude)
}

func wavesOn(p Path, cosines, sines []float32, words []byte, bits int, amplitude float32) bool {
	if len(sines) != len(cosines) {
		panic(fmt.Sprintf("linalg: %d cosines and %d sines", len(cosines), len(sines)))
	}
	r, place := ringOf(p), placeOf(bits, len(cosines), len(words))
	waves := r.waves[place]
	if waves == nil {
		return false
	}
	n := len(cosines) &^ (r.words - 1)
	waves(n, cosines, sines, words, amplitude)
	if n < len(cosines) {
		var c, s [widest]float32
		var w [4 * widest]byte
		copy(w[:], words[n*bits/8:])
		waves(r.words, c[:], s[:], w[:], amplitude)
		copy(cosines[n:], c[:])
		copy(sines[n:], s[:])
	}
	return true
}
