package linear

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/kernel/feature"
	"github.com/mercer-fl/mercer/linalg"
)

// Phases is a table of random features that stores phases, in words of a few bits. It makes the
// phases' cosines and sines when features are read. With M directions w, features 2i and 2i+1 of a
// row x are the cosine and the sine of w_i.x over sqrt(M), so that the inner product of two rows'
// features is their kernel, with an error of about 1/sqrt(M).
type Phases[T linalg.Float] struct {
	rows, directions int
	wave             *feature.Wave[T]
	words            []byte // words of all rows, one direction after another
}

// NewPhases returns a table of phases that are all 0, in words of 8, 16 or 32 bits. It takes rows x
// directions x bits/8 bytes. It panics on other bits.
func NewPhases[T linalg.Float](rows, directions, bits int) *Phases[T] {
	wave := feature.NewWave[T](bits).Times(T(1 / math.Sqrt(float64(directions))))
	return &Phases[T]{rows, directions, wave, make([]byte, rows*directions*bits/8)}
}

// Unscaled returns a table of the same phases, whose features are not divided by sqrt(M). [DSG]
// uses such features. Both tables share the words.
func (p *Phases[T]) Unscaled() *Phases[T] {
	plain := *p
	plain.wave = p.wave.Times(1)
	return &plain
}

// Rows returns the number of rows.
func (p *Phases[T]) Rows() int { return p.rows }

// Features returns the number of features, which is two for each direction.
func (p *Phases[T]) Features() int { return 2 * p.directions }

// Put stores the phases of some rows under some directions, on all cores. The rows are row to
// row+count-1. The directions are start to start+directions-1. Phases are little-endian words, row
// after row, as [feature.Phases] makes them. It panics if words has another length, or if the rows
// or directions are outside of the table.
func (p *Phases[T]) Put(words []byte, row, count, start, directions int) {
	size := p.wave.Bits() / 8
	if row < 0 || count < 0 || row+count > p.rows || start < 0 || directions < 0 || start+directions > p.directions || len(words) != count*directions*size {
		panic(fmt.Sprintf("linear: %d bytes for rows %d to %d of %d, directions %d to %d of %d", len(words), row, row+count, p.rows, start, start+directions, p.directions))
	}
	linalg.For(directions, tileDirections, func(lo, hi int) {
		for top := 0; top < count; top += tileRows {
			for j := lo; j < hi; j++ {
				gather(p.direction(start + j)[(row+top)*size:], words[(top*directions+j)*size:], min(tileRows, count-top), directions, size)
			}
		}
	})
}

// These are the sizes of the tiles in which [Phases.Put] transposes words. The cache lines of a
// tile stay in the first-level cache until all of their words have been moved. Tiles are small,
// because that cache holds the lines of only a few rows if the distance of rows is a power of two.
const (
	tileDirections = 64
	tileRows       = 8
)

// gather copies every step-th word to consecutive words. A word has size bytes.
func gather(to, from []byte, count, step, size int) {
	switch size {
	case 1:
		for i := range count {
			to[i] = from[i*step]
		}
	case 2:
		for i := range count {
			binary.LittleEndian.PutUint16(to[2*i:], binary.LittleEndian.Uint16(from[2*i*step:]))
		}
	default:
		for i := range count {
			binary.LittleEndian.PutUint32(to[4*i:], binary.LittleEndian.Uint32(from[4*i*step:]))
		}
	}
}

// Read computes features of consecutive rows from their phases, and stores them in dst. Both
// feature and the number of rows of dst must be even.
func (p *Phases[T]) Read(dst linalg.Matrix[T], feature, row int) {
	checkPairs(feature, dst.Rows)
	size := p.wave.Bits() / 8
	for j := 0; j < dst.Rows; j += 2 {
		p.wave.Turn(dst.Row(j), dst.Row(j+1), p.direction((feature + j) / 2)[row*size:][:dst.Cols*size])
	}
}

// direction returns the words of all rows under one direction.
func (p *Phases[T]) direction(i int) []byte {
	length := len(p.words) / p.directions
	return p.words[i*length:][:length]
}

// ReadAt is like [Phases.Read], but reads any rows.
func (p *Phases[T]) ReadAt(dst linalg.Matrix[T], feature int, rows []int) {
	checkPairs(feature, dst.Rows)
	size := p.wave.Bits() / 8
	words := make([]byte, len(rows)*size)
	for j := 0; j < dst.Rows; j += 2 {
		from := p.direction((feature + j) / 2)
		for i, r := range rows {
			copy(words[i*size:(i+1)*size], from[r*size:])
		}
		p.wave.Turn(dst.Row(j), dst.Row(j+1), words)
	}
}

func checkPairs(first, count int) {
	if first%2 != 0 || count%2 != 0 {
		panic(fmt.Sprintf("linear: features %d to %d are not cosines with their sines", first, first+count))
	}
}
