package fdskl

import "github.com/mercer-fl/mercer/protocol"

// Book makes requests for a [Schedule] that needs rows in all directions up to a given one: it
// records for each row in how many directions it is known, and requests the others, each once.
type Book struct {
	most    int   // directions of a request
	known   []int // directions, from the first on, of each row
	waiting []Request
	last    Request
}

// NewBook returns an empty book for a session with the given number of aligned rows and of bits in
// a phase.
func NewBook(rows, bits int) *Book {
	return &Book{most: protocol.MaxChunkBytes / ring(bits).bytes(), known: make([]int, rows)}
}

// Want adds requests for the unknown phases of ascending rows in directions 0 to end-1. Rows known
// in the same number of directions share a request.
func (b *Book) Want(rows []int, end int) {
	groups := make(map[int][]int)
	var firsts []int // keys, in the order in which they are met
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
		for at := first; at < end; at += b.most {
			b.waiting = append(b.waiting, Request{Rows: spans, Directions: Span{at, min(b.most, end-at)}})
		}
	}
}

// Next returns the next request, or false: the results of a schedule's Next.
func (b *Book) Next() (Request, bool) {
	if len(b.waiting) == 0 {
		return Request{}, false
	}
	b.last, b.waiting = b.waiting[0], b.waiting[1:]
	return b.last, true
}

// Directions returns the directions of the last request that Next returned.
func (b *Book) Directions() Span { return b.last.Directions }
