package fdskl

// layout cuts a request's words, row after row, into chunks of whole rows.
type layout struct {
	rows, rowBytes int
	perChunk       int // rows
}

func newLayout(q Request, r ring, chunkBytes int) layout {
	rowBytes := q.Directions.Count * r.bytes()
	return layout{q.count(), rowBytes, max(1, chunkBytes/rowBytes)}
}

func (l layout) chunks() int { return (l.rows-1)/l.perChunk + 1 }

// span returns the rows of a chunk, counted within the request; hi is left out.
func (l layout) span(chunk int) (lo, hi int) {
	return chunk * l.perChunk, min((chunk+1)*l.perChunk, l.rows)
}

// size returns the size of a chunk, in bytes.
func (l layout) size(chunk int) int {
	lo, hi := l.span(chunk)
	return (hi - lo) * l.rowBytes
}
