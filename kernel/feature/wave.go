package feature

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/linalg"
)

// Wave returns the cosines and sines of phases that are stored in words (see [Phases]). It looks them
// up in a table if words have 8 or 16 bits, and computes them otherwise. In float32 on a machine with
// vector instructions, it always computes them. A Wave is read only.
type Wave[T linalg.Float] struct {
	bits      int
	amplitude T
	cosine    []T // cosine of every phase; nil for 32 bits
}

// NewWave returns the wave for words of 8, 16 or 32 bits. It panics on other bits.
func NewWave[T linalg.Float](bits int) *Wave[T] {
	if err := CheckBits(bits); err != nil {
		panic(err.Error())
	}
	return newWave[T](bits, 1)
}

// Times returns a wave for the same words whose cosines and sines are multiplied by amplitude.
func (w *Wave[T]) Times(amplitude T) *Wave[T] { return newWave(w.bits, amplitude) }

func newWave[T linalg.Float](bits int, amplitude T) *Wave[T] {
	w := &Wave[T]{bits: bits, amplitude: amplitude}
	if bits <= 16 {
		w.cosine = make([]T, 1<<bits)
		for u := range w.cosine {
			w.cosine[u] = T(float64(amplitude) * math.Cos(2*math.Pi*math.Ldexp(float64(u), -bits)))
		}
	}
	return w
}

// Bits returns the number of bits of a word.
func (w *Wave[T]) Bits() int { return w.bits }

// Turn sets cosines and sines to the cosines and sines of words, which are little-endian and have
// Bits()/8 bytes each. It runs on one core; use it inside linalg.For. It panics unless all three
// have the same number of elements.
func (w *Wave[T]) Turn(cosines, sines []T, words []byte) {
	if len(sines) != len(cosines) || len(words) != len(cosines)*w.bits/8 {
		panic(fmt.Sprintf("feature: %d cosines and %d sines of %d bytes", len(cosines), len(sines), len(words)))
	}
	if c, single := any(cosines).([]float32); single && linalg.CosSin(c, any(sines).([]float32), words, w.bits, float32(w.amplitude)) {
		return
	}
	switch w.bits {
	case 8:
		turn8((*[1 << 8]T)(w.cosine), cosines, sines, words)
	case 16:
		turn16((*[1 << 16]T)(w.cosine), cosines, sines, words)
	default:
		turn32(cosines, sines, words)
		w.amplify(cosines)
		w.amplify(sines)
	}
}

func (w *Wave[T]) amplify(values []T) {
	if w.amplitude == 1 {
		return
	}
	for i := range values {
		values[i] *= w.amplitude
	}
}

// A sine equals the cosine of the angle a quarter of a turn earlier.

func turn8[T linalg.Float](table *[1 << 8]T, cosines, sines []T, words []byte) {
	sines, words = sines[:len(cosines)], words[:len(cosines)]
	for i := range cosines {
		u := words[i]
		cosines[i], sines[i] = table[u], table[u-1<<6]
	}
}

func turn16[T linalg.Float](table *[1 << 16]T, cosines, sines []T, words []byte) {
	sines = sines[:len(cosines)]
	for i := range cosines {
		u := binary.LittleEndian.Uint16(words[2*i:])
		cosines[i], sines[i] = table[u], table[u-1<<14]
	}
}

// turn32 computes cosines and sines of 32-bit words. It reads words as integers from -2^31 to 2^31 - 1,
// so that angles are small.
func turn32[T linalg.Float](cosines, sines []T, words []byte) {
	const angle = math.Pi / (1 << 31)
	for i := range cosines {
		u := binary.LittleEndian.Uint32(words[4*i:])
		cosines[i], sines[i] = T(angle*float64(int32(u))), T(angle*float64(int32(u-1<<30)))
	}
	linalg.Cos(cosines, cosines)
	linalg.Cos(sines, sines)
}
