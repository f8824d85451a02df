package okra

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// layout is a division of rows of numbers into chunks. A chunk holds as many whole rows as fit; if
// a row does not fit, it is cut into as few, nearly equal chunks as possible. Both ends compute the layout
// from the announcement, so a chunk needs no header: its index gives its place.
type layout struct{ rows, width, word int }

// span is the block of a matrix that a chunk holds: first row, number of rows, first column, number
// of columns.
type span struct{ row, rows, col, cols int }

// perChunk returns the number of whole rows that fit in a chunk; 0 if a row does not fit.
func (l layout) perChunk() int { return protocol.MaxChunkBytes / (l.word * l.width) }

// parts returns the number of chunks that a row takes; 1 if a whole row fits.
func (l layout) parts() int {
	words := protocol.MaxChunkBytes / l.word
	return (l.width + words - 1) / words
}

func (l layout) chunks() int {
	if l.rows == 0 {
		return 0
	}
	if n := l.perChunk(); n > 0 {
		return (l.rows + n - 1) / n
	}
	return l.rows * l.parts()
}

func (l layout) span(chunk int) span {
	if n := l.perChunk(); n > 0 {
		return span{chunk * n, min(n, l.rows-chunk*n), 0, l.width}
	}
	parts := l.parts()
	cols := (l.width + parts - 1) / parts
	col := chunk % parts * cols
	return span{chunk / parts, 1, col, min(cols, l.width-col)}
}

// bytes returns the number of bytes in a chunk's body.
func (l layout) bytes(s span) int { return s.rows * s.cols * l.word }

// tally is the record of the chunks that have arrived.
type tally struct {
	seen    []bool
	missing int
}

func newTally(chunks int) tally { return tally{make([]bool, chunks), chunks} }

// check refuses a chunk that states another number of chunks than announced, or that has arrived
// before.
func (t *tally) check(m protocol.Message) error {
	switch {
	case int64(m.Chunks) != int64(len(t.seen)) || m.Chunk >= m.Chunks:
		return m.Inconsistent("chunk %d of %d of %s does not match the announcement of %d chunks", m.Chunk, m.Chunks, m.Kind, len(t.seen))
	case t.seen[m.Chunk]:
		return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("chunk %d of %s has already arrived; each chunk is sent once", m.Chunk, m.Kind))
	}
	return nil
}

func (t *tally) take(chunk uint32) {
	t.seen[chunk] = true
	t.missing--
}
