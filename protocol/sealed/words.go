package sealed

import (
	"bytes"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// chunkWords is the number of words of each chunk of a message but the last.
const chunkWords = protocol.MaxChunkBytes / ring128.Bytes

// chunks returns the number of chunks of n words.
func chunks(n int) int { return (n + chunkWords - 1) / chunkWords }

// outflow is a message that has yet to be sent, chunk by chunk. What it encodes must not change until then.
type outflow struct {
	header protocol.Header
	length int                     // bytes of the whole body
	encode func(lo, hi int) []byte // bytes lo to hi-1 of the body; lo is a multiple of protocol.MaxChunkBytes
	next   int                     // number of the next chunk
}

// newOutflow returns a message of words. It encodes them as they are sent.
func newOutflow(h protocol.Header, words []ring128.Word) outflow {
	return outflow{header: h, length: len(words) * ring128.Bytes, encode: func(lo, hi int) []byte {
		return ring128.Append(make([]byte, 0, hi-lo), words[lo/ring128.Bytes:hi/ring128.Bytes])
	}}
}

// newOutflowOf returns a message whose body is the given bytes, not words.
func newOutflowOf(h protocol.Header, body []byte) outflow {
	return outflow{header: h, length: len(body), encode: func(lo, hi int) []byte { return bytes.Clone(body[lo:hi]) }}
}

// empty reports whether all is sent. A message of no bytes has no chunks.
func (o *outflow) empty() bool { return o.next == parcelChunks(o.length) }

// take returns the next chunk, or false if there is none.
func (o *outflow) take() (protocol.Message, bool) {
	if o.empty() {
		return protocol.Message{}, false
	}
	first := o.next * protocol.MaxChunkBytes
	m := protocol.Message{Header: o.header, Body: o.encode(first, min(first+protocol.MaxChunkBytes, o.length))}
	m = m.Piece(o.next, parcelChunks(o.length))
	o.next++
	return m, true
}

// queue holds messages that have yet to be sent, in order.
type queue []outflow

func (q *queue) add(o outflow) {
	if !o.empty() {
		*q = append(*q, o)
	}
}

// take returns the next chunk, or false if all is sent.
func (q *queue) take() (protocol.Message, bool) {
	if len(*q) == 0 {
		return protocol.Message{}, false
	}
	m, ok := (*q)[0].take()
	if (*q)[0].empty() {
		*q = (*q)[1:]
	}
	return m, ok
}

// inflow collects a message of words whose number is known, from chunks in any order. The zero value is complete.
type inflow struct {
	arrivals
	n     int
	words []ring128.Word // nil before the first chunk
}

func newInflow(n int) *inflow { return &inflow{arrivals: newArrivals(chunks(n)), n: n} }

// accept takes one chunk. It refuses another number of chunks or words, and a second chunk in the same place. It
// leaves the words as they were if it refuses.
func (in *inflow) accept(m protocol.Message) error {
	if err := in.admit(m); err != nil {
		return err
	}
	if in.words == nil {
		in.words = make([]ring128.Word, in.n)
	}
	first := int(m.Chunk) * chunkWords
	if err := ring128.Decode(in.words[first:min(first+chunkWords, len(in.words))], m.Body); err != nil {
		return m.Malformed(err)
	}
	in.mark(m)
	return nil
}
