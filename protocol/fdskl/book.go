package fdskl

import "github.com/mercer-fl/mercer/protocol"

// Book plans the requests of a [Schedule] that needs the phases of rows in all directions below a
// given direction. It records in how many directions each row's phases have been requested, and
// requests the missing directions, each once.
type Book struct {
	maxDirections int   // largest number of directions in a request
	known         []int // for each row, the number of leading directions whose phases are known or requested
	waiting       []Request
	last          Request
}

// NewBook returns an empty book for a session with the given number of aligned rows. bits is the
// size of a phase's word.
func NewBook(rows, bits int) *Book {
	return &Book{maxDirections: protocol.MaxChunkBytes / ring(bits).bytes(), known: make([]int, rows)}
}

// Want adds requests for the phases of the given rows in directions 0 to end-1. It leaves out
// phases that are known or already requested. Rows with the same number of known or requested
// directions share requests. The rows must ascend.
func (b *Book) Want(rows []int, end int) {
	groups := make(map[int][]int)
	var firsts []int // the keys of the map groups, in order of insertion
	for _, r := range rows {
		first := b.known[r]
		if first >= end {
			continue
		}
		if groups[first] == nil {
			firsts = append(firsts, first)
		}
		groups[first] = append(groups[first], r)
		b.known[r] = end
	}
	for _, first := range firsts {
		spans := Spans(groups[first]...)
		for at := first; at < end; at += b.maxDirections {
			b.waiting = append(b.waiting, Request{Rows: spans, Directions: Span{at, min(b.maxDirections, end-at)}})
		}
	}
}

// Next returns the next request, or false if no request is waiting, as [Schedule] requires.
func (b *Book) Next() (Request, bool) {
	if len(b.waiting) == 0 {
		return Request{}, false
	}
	b.last, b.waiting = b.waiting[0], b.waiting[1:]
	return b.last, true
}

// Directions returns the directions of the request that Next returned last.
func (b *Book) Directions() Span { return b.last.Directions }
