package fdskl

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Span is a range of Count numbers from First on.
type Span struct{ First, Count int }

func (s Span) end() int { return s.First + s.Count }

// Request asks for the phases of some rows in some directions: a phase block. Rows ascend, and
// adjacent spans are merged. The directions of a row are requested in ascending order, each once.
type Request struct {
	Rows       []Span
	Directions Span
	// shares requests the other active workers' parts of f at these rows too: the request begins an
	// iteration, and there are several active workers.
	shares bool
}

// Spans converts ascending numbers to spans.
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

// count returns the number of rows of the request.
func (q Request) count() int {
	n := 0
	for _, s := range q.Rows {
		n += s.Count
	}
	return n
}

// rows lists the request's rows from the lo-th on, up to but excluding the hi-th.
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

// marks hold for each row the first direction that may be requested next.
type marks []uint32

// check refuses invalid requests.
func (m marks) check(q Request, owned Span, most int) error {
	if q.Directions.First < owned.First || q.Directions.Count < 1 || q.Directions.end() > owned.end() {
		return fmt.Errorf("fdskl: directions %d to %d, where %d to %d were agreed", q.Directions.First, q.Directions.end()-1, owned.First, owned.end()-1)
	}
	if q.Directions.Count > most {
		return fmt.Errorf("fdskl: %d directions at once, at most %d fit a message; ask for some after the others", q.Directions.Count, most)
	}
	if q.shares && q.count() > maxShared {
		return fmt.Errorf("fdskl: parts of f at %d rows at once, at most %d fit a message; ask for fewer rows", q.count(), maxShared)
	}
	if len(q.Rows) == 0 {
		return fmt.Errorf("fdskl: a request without rows")
	}
	last := -1
	for _, s := range q.Rows {
		if s.Count < 1 || s.First <= last || s.end() > len(m) {
			return fmt.Errorf("fdskl: rows %d to %d behind row %d, of %d that are aligned; rows ascend, and spans that meet are one", s.First, s.end()-1, last, len(m))
		}
		last = s.end()
		for r := s.First; r < last; r++ {
			if int(m[r]) > q.Directions.First {
				return fmt.Errorf("fdskl: row %d in direction %d, after directions up to %d have been answered; each is answered once, in order", r, q.Directions.First, m[r]-1)
			}
		}
	}
	return nil
}

// set records that a request is answered.
func (m marks) set(q Request) {
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

// maxSpans limits the spans so that one step's requests, one to each worker, fit into a step, and
// each into a message.
func maxSpans(workers int) int {
	each := min(protocol.MaxStepBytes/max(1, workers-1), protocol.MaxChunkBytes)
	return (each - signedBytes) / spanBytes
}

const (
	spanBytes   = 8
	signedBytes = 4 + spanBytes + 1 + ed25519.SignatureSize // of a request beside its spans of rows
)

// signedRequest is a request in wire format.
type signedRequest struct {
	request   Request
	signature [ed25519.SignatureSize]byte // of the hash
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

// hash returns the permanent name of a request: the session, the active worker and its counter, the
// rows in order, the directions, and the trees. Masks are derived from it, so workers that received
// different requests mask with numbers that do not cancel.
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
