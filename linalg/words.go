package linalg

import (
	"encoding/binary"
	"fmt"
)

// words are ways to add whole numbers modulo 2^64, a block of them at a time.
type words struct {
	block         int
	add, subtract func(n int, dst []uint64, src []byte)
}

func portableWords() words { return words{1, addWordsPortable, subtractWordsPortable} }

// AddWords adds to dst, modulo 2^64, the little-endian words of src: 8 bytes
// for each of dst, or it panics.
func AddWords(dst []uint64, src []byte) { addWordsOn(Paths()[0], dst, src) }

// SubtractWords takes from dst what AddWords adds.
func SubtractWords(dst []uint64, src []byte) { subtractWordsOn(Paths()[0], dst, src) }

func addWordsOn(p Path, dst []uint64, src []byte) {
	w := wordsOf(p)
	n := w.whole(dst, src)
	w.add(n, dst, src)
	addWordsPortable(len(dst)-n, dst[n:], src[8*n:])
}

func subtractWordsOn(p Path, dst []uint64, src []byte) {
	w := wordsOf(p)
	n := w.whole(dst, src)
	w.subtract(n, dst, src)
	subtractWordsPortable(len(dst)-n, dst[n:], src[8*n:])
}

// whole returns the number of words that go by blocks.
func (w words) whole(dst []uint64, src []byte) int {
	if len(src) != 8*len(dst) {
		panic(fmt.Sprintf("linalg: %d bytes for %d words of 8", len(src), len(dst)))
	}
	return len(dst) &^ (w.block - 1)
}

// addWordsPortable is the twin of the functions in assembly.
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
