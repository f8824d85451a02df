package escaped

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

const (
	chunkWords = protocol.MaxChunkBytes / 8
	// maxMagnitude limits the magnitude of received numbers. Products of masks and values up to
	// MaxValue are smaller.
	maxMagnitude = 1e30
)

// sheet is a matrix whose entries arrive in chunks, row by row.
type sheet struct {
	m       linalg.Matrix[float64]
	seen    []bool
	missing int
}

func newSheet(rows, cols int) *sheet {
	n := chunks(rows * cols)
	return &sheet{linalg.New[float64](rows, cols), make([]bool, n), n}
}

// chunks returns the number of chunks of a matrix with the given number of entries.
func chunks(words int) int { return (words + chunkWords - 1) / chunkWords }

func (s *sheet) complete() bool { return s.missing == 0 }

// take stores a chunk. It returns an error if the chunk does not fit the matrix or has arrived
// before.
func (s *sheet) take(m protocol.Message) error {
	switch {
	case int(m.Chunks) != len(s.seen):
		return m.Inconsistent("the message has %d chunks of %s; %d x %d numbers require %d", m.Chunks, m.Kind, s.m.Rows, s.m.Cols, len(s.seen))
	case s.seen[m.Chunk]:
		return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("chunk %d of %s has arrived already", m.Chunk, m.Kind))
	}
	lo, hi := span(len(s.m.Data), int(m.Chunk))
	numbers := make([]float64, hi-lo)
	if err := decodeNumbers(m.Body, numbers); err != nil {
		return m.Malformed(err)
	}
	copy(s.m.Data[lo:], numbers)
	s.seen[m.Chunk] = true
	s.missing--
	return nil
}

// span returns the range of the matrix entries that a chunk holds.
func span(words, chunk int) (lo, hi int) {
	return chunk * chunkWords, min(words, (chunk+1)*chunkWords)
}

// decodeNumbers decodes finite numbers whose magnitude is at most maxMagnitude.
func decodeNumbers(b []byte, numbers []float64) error {
	r := wire.NewReader(b)
	r.Float64s(numbers)
	if err := r.Close("escaped: numbers"); err != nil {
		return err
	}
	for i, v := range numbers {
		if !(math.Abs(v) <= maxMagnitude) { // the comparison is false for NaN
			return fmt.Errorf("escaped: entry %d is %v; its magnitude must be at most 1e30", i, v)
		}
	}
	return nil
}
