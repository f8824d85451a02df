package fdskl

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Span is a range of Count consecutive numbers. The field First is the lowest of them.
type Span struct{ First, Count int }

func (s Span) end() int { return s.First + s.Count }

// Request asks for the phases of some rows in some directions. Rows must ascend, and adjacent spans
// must be merged. The directions of a row are requested in ascending order, each once.
type Request struct {
	Rows       []Span
	Directions Span
	// shares tells whether the request also asks for the other active workers' parts of the model
	// function f at these rows. It is set if the request begins an iteration and there are several
	// active workers.
	shares bool
}

// Spans converts ascending row numbers to the fewest spans that cover them.
func Spans(rows ...int) []Span {
	var list []Span
	for _, r := range rows {
		if n := len(list); n > 0 && list[n-1].end() == r {
			list[n-1].Count++
		} else {
			list = append(list, Span{r, 1})
		}
	}
	return list
}

// rowCount returns the number of rows of the request.
func (q Request) rowCount() int {
	n := 0
	for _, s := range q.Rows {
		n += s.Count
	}
	return n
}

// rows returns the rows of the request at places lo to hi-1, counted from 0.
func (q Request) rows(lo, hi int) []int {
	list := make([]int, 0, hi-lo)
	at := 0
	for _, s := range q.Rows {
		for i := max(lo-at, 0); i < min(hi-at, s.Count); i++ {
			list = append(list, s.First+i)
		}
		if at += s.Count; at >= hi {
			break
		}
	}
	return list
}

// marks is a list with one element for each row: the number after the last requested direction, at first 0.
// The active worker can request directions from this number on.
type marks []uint32

// check returns an error for a request that the active worker is not allowed to make. The argument
// owned is the active worker's range of directions, and limit is the largest number of directions
// in a request.
func (m marks) check(q Request, owned Span, limit int) error {
	if q.Directions.First < owned.First || q.Directions.Count < 1 || q.Directions.end() > owned.end() {
		return fmt.Errorf("fdskl: the request is for directions %d to %d; this active worker may request directions %d to %d", q.Directions.First, q.Directions.end()-1, owned.First, owned.end()-1)
	}
	if q.Directions.Count > limit {
		return fmt.Errorf("fdskl: the request is for %d directions; at most %d fit in a message; split it into several requests", q.Directions.Count, limit)
	}
	if q.shares && q.rowCount() > maxShared {
		return fmt.Errorf("fdskl: the request is for parts of the model function f at %d rows; at most %d fit in a message; ask for fewer rows", q.rowCount(), maxShared)
	}
	if len(q.Rows) == 0 {
		return fmt.Errorf("fdskl: the request has no rows")
	}
	last := -1
	for _, s := range q.Rows {
		if s.Count < 1 || s.First <= last || s.end() > len(m) {
			return fmt.Errorf("fdskl: the request lists rows %d to %d; spans of rows must ascend and end below %d, and adjacent spans must be merged", s.First, s.end()-1, len(m))
		}
		last = s.end()
		for r := s.First; r < last; r++ {
			if int(m[r]) > q.Directions.First {
				return fmt.Errorf("fdskl: the request is for row %d from direction %d on, but directions up to %d have been answered; each direction is answered once, in order", r, q.Directions.First, m[r]-1)
			}
		}
	}
	return nil
}

// markAnswered records that a request's directions have been answered for the request's rows.
func (m marks) markAnswered(q Request) {
	for _, s := range q.Rows {
		for r := s.First; r < s.end(); r++ {
			m[r] = uint32(q.Directions.end())
		}
	}
}

func (q Request) encodeTo(w *wire.Writer) {
	w.Uint32(uint32(len(q.Rows)))
	for _, s := range append(q.Rows[:len(q.Rows):len(q.Rows)], q.Directions) {
		w.Uint32(uint32(s.First))
		w.Uint32(uint32(s.Count))
	}
	w.Bool(q.shares)
}

func readSpan(r *wire.Reader) Span { return Span{int(r.Uint32()), int(r.Uint32())} }

// maxSpans returns the largest number of spans in a request. With this limit a request fits in a
// message, and the requests to all workers fit in a step.
func maxSpans(workers int) int {
	each := min(protocol.MaxStepBytes/max(1, workers-1), protocol.MaxChunkBytes)
	return (each - signedBytes) / spanBytes
}

const (
	spanBytes   = 8
	signedBytes = 4 + spanBytes + 1 + ed25519.SignatureSize // bytes of a signed request without its spans of rows
)

// signedRequest is a request with the active worker's signature, as it is sent.
type signedRequest struct {
	request   Request
	signature [ed25519.SignatureSize]byte // signature of the request's hash
}

func (s signedRequest) encode() []byte {
	var w wire.Writer
	w.Grow(signedBytes + spanBytes*len(s.request.Rows))
	s.request.encodeTo(&w)
	w.Fixed(s.signature[:])
	return w.Bytes()
}

func decodeRequest(b []byte, workers int) (signedRequest, error) {
	r := wire.NewReader(b)
	var s signedRequest
	s.request.Rows = make([]Span, r.Count(maxSpans(workers), spanBytes))
	for i := range s.request.Rows {
		s.request.Rows[i] = readSpan(r)
	}
	s.request.Directions = readSpan(r)
	s.request.shares = r.Bool()
	r.Fixed(s.signature[:])
	return s, r.Close("fdskl: request")
}

// hash returns a hash of the session, the request's sequence number, the request itself, and the
// trees. Masks are derived from this hash, so in mode hardened workers that received different requests
// use masks that do not cancel.
func (q Request) hash(id protocol.SessionID, sequence uint32, trees []Tree) [sha256.Size]byte {
	var w wire.Writer
	w.String("mercer/v1/fdskl/request")
	w.Fixed(id[:])
	w.Uint32(sequence)
	q.encodeTo(&w)
	for _, t := range trees {
		for _, parent := range t {
			w.Uint32(uint32(parent))
		}
	}
	return sha256.Sum256(w.Bytes())
}
