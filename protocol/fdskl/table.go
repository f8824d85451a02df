package fdskl

import "github.com/mercer-fl/mercer/protocol"

// Table is the schedule of training mode cached, for one active worker: all rows
// in all directions, once. It holds the words in the one copy that there is.
type Table struct {
	params Params
	words  []byte
	asked  int // directions
}

// NewTable returns an empty table for a session's rows and directions; it takes
// Rows x Directions x Bits/8 bytes.
func NewTable(p Params) *Table { return &Table{params: p} }

// Next asks for all rows, in as many directions as a message has room for.
func (t *Table) Next() (Request, bool) {
	s := t.params.spec
	if t.words == nil {
		t.words = make([]byte, s.Rows*t.stride())
	}
	first := t.asked
	t.asked = min(first+protocol.MaxChunkBytes/t.params.ring().bytes(), s.Directions)
	return Request{Rows: []Span{{0, s.Rows}}, Directions: Span{first, t.asked - first}}, first < s.Directions
}

// Answer keeps the words.
func (t *Table) Answer(rows []int, words []byte) {
	width := len(words) / len(rows)
	at := t.asked*t.params.ring().bytes() - width
	for i, r := range rows {
		copy(t.words[r*t.stride()+at:], words[i*width:(i+1)*width])
	}
}

// stride returns the size of a row in bytes.
func (t *Table) stride() int { return t.params.spec.Directions * t.params.ring().bytes() }

// Words returns all words, little-endian, row after row; they are complete once
// the machine has ended without an error. They are not copied.
func (t *Table) Words() []byte { return t.words }

// Row returns the words of row i.
func (t *Table) Row(i int) []byte { return t.words[i*t.stride() : (i+1)*t.stride()] }
