package scale

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

const (
	// minWidth is the width that narrower tables are padded to.
	minWidth     = 64
	columnBytes  = 16
	headingBytes = 12
)

// sizing holds the sizes of the messages that a table is cut into.
type sizing struct {
	chunk int // columns in a message, a power of two
	batch int // messages in a step
}

// bulk returns the sizing of real sessions: 256 KiB of numbers in a message, and as
// many messages as a step may send.
func bulk() sizing {
	const chunk = 1 << 14
	return sizing{chunk: chunk, batch: protocol.MaxStepBytes / (headingBytes + columnBytes*chunk)}
}

// layout cuts a table's columns, padded to a power of two, into messages.
type layout struct {
	columns int // of the table
	width   int // with padding
	sizing
}

func newLayout(columns int, s sizing) layout {
	width := minWidth
	for width < columns {
		width *= 2
	}
	s.chunk = min(s.chunk, width)
	return layout{columns, width, s}
}

func (l layout) chunks() int { return l.width / l.chunk }

// span returns the table's columns that chunk i holds; none for a chunk that
// is all padding.
func (l layout) span(i int) (lo, hi int) {
	return min(i*l.chunk, l.columns), min((i+1)*l.chunk, l.columns)
}

// encode returns the body of one chunk: rows, the table's columns, and for each
// column of the chunk first the one and then the other number. Both rounds use
// it; round 2 has no rows to tell and says 0.
func (l layout) encode(rows int, c columns) []byte {
	var w wire.Writer
	w.Grow(headingBytes + columnBytes*l.chunk)
	w.Uint64(uint64(rows))
	w.Uint32(uint32(l.columns))
	padding := make([]float64, l.chunk-len(c.first))
	for _, v := range [][]float64{c.first, c.second} {
		w.Float64s(v)
		w.Float64s(padding)
	}
	return w.Bytes()
}

// chunk is a decoded body.
type chunk struct {
	rows   int
	layout layout // the sender's, from its number of columns
	columns
}

// decode decodes the body of m. The numbers may be anything; the shape, the
// padding and the header's chunk numbers are checked. Sender and receiver cut
// tables alike.
func decode(m protocol.Message, s sizing) (chunk, error) {
	r := wire.NewReader(m.Body)
	rows, f := r.Uint64(), int(r.Uint32())
	switch {
	case r.Err() != nil:
		return chunk{}, r.Err()
	case rows > maxRows:
		return chunk{}, fmt.Errorf("%d rows, at most %d are allowed", rows, int64(maxRows))
	case f < 1 || f > MaxColumns:
		return chunk{}, fmt.Errorf("%d columns, 1 to %d are allowed", f, MaxColumns)
	}
	l := newLayout(f, s)
	if int64(m.Chunks) != int64(l.chunks()) || m.Chunk >= m.Chunks || r.Len() != columnBytes*l.chunk {
		return chunk{}, fmt.Errorf("%d bytes of numbers in chunk %d of %d for %d columns", r.Len(), m.Chunk+1, m.Chunks, f)
	}
	lo, hi := l.span(int(m.Chunk))
	c := chunk{rows: int(rows), layout: l, columns: columns{make([]float64, hi-lo), make([]float64, hi-lo)}}
	for _, v := range [][]float64{c.first, c.second} {
		r.Float64s(v)
		for range l.chunk - len(v) {
			if r.Uint64() != 0 {
				r.Fail(errors.New("padding that is not zero"))
			}
		}
	}
	return c, r.Close("numbers")
}
