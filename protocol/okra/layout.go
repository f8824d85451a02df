package okra

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// layout divides rows of numbers into chunks: as many whole rows as fit into a chunk or, if a row
// does not fit, a row in as few equal parts as possible. Both ends compute the layout from the
// announcement. So a chunk contains only numbers, and its number gives its place.
type layout struct{ rows, width, word int }

// span is a chunk's part of the matrix.
type span struct{ row, rows, col, cols int }

// perChunk returns the number of whole rows in a chunk.
func (l layout) perChunk() int { return protocol.MaxChunkBytes / (l.word * l.width) }

// parts returns the number of chunks for a row; 1 if rows are whole.
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

// bytes returns the size of a chunk's body.
func (l layout) bytes(s span) int { return s.rows * s.cols * l.word }

// tally records which chunks have arrived.
type tally struct {
	seen    []bool
	missing int
}

func newTally(chunks int) tally { return tally{make([]bool, chunks), chunks} }

// check refuses a chunk with another total, or one that has arrived before.
func (t *tally) check(m protocol.Message) error {
	switch {
	case int64(m.Chunks) != int64(len(t.seen)) || m.Chunk >= m.Chunks:
		return m.Inconsistent("chunk %d of %d of %s; %d chunks were announced", m.Chunk, m.Chunks, m.Kind, len(t.seen))
	case t.seen[m.Chunk]:
		return protocol.Blame(m.Sender, protocol.KindUnexpected, fmt.Errorf("chunk %d of %s came before", m.Chunk, m.Kind))
	}
	return nil
}

func (t *tally) take(chunk uint32) {
	t.seen[chunk] = true
	t.missing--
}
