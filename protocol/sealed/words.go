package sealed

import (
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// chunkWords is the number of words of each chunk of a message but the last.
const chunkWords = protocol.MaxChunkBytes / ring128.Bytes

// chunks returns the number of chunks of n words.
func chunks(n int) int { return (n + chunkWords - 1) / chunkWords }

// outflow is a message of words that has yet to be sent, chunk by chunk. The words must not change until then.
type outflow struct {
	header protocol.Header
	words  []ring128.Word
	next   int
}

func newOutflow(h protocol.Header, words []ring128.Word) outflow {
	return outflow{header: h, words: words}
}

func (o *outflow) empty() bool { return o.next == chunks(len(o.words)) }

// take returns the next chunk, or false if there is none.
func (o *outflow) take() (protocol.Message, bool) {
	if o.empty() {
		return protocol.Message{}, false
	}
	first := o.next * chunkWords
	words := o.words[first:min(first+chunkWords, len(o.words))]
	m := protocol.Message{Header: o.header, Body: ring128.Append(make([]byte, 0, len(words)*ring128.Bytes), words)}
	m = m.Piece(o.next, chunks(len(o.words)))
	o.next++
	return m, true
}

// inflow collects a message of words whose number is known, from chunks in any order. The zero value is complete.
type inflow struct {
	arrivals
	words []ring128.Word
}

func newInflow(n int) *inflow {
	return &inflow{arrivals: newArrivals(chunks(n)), words: make([]ring128.Word, n)}
}

// accept takes one chunk. It refuses another number of chunks or words, and a second chunk in the same place. It
// leaves the words as they were if it refuses.
func (in *inflow) accept(m protocol.Message) error {
	if err := in.admit(m); err != nil {
		return err
	}
	first := int(m.Chunk) * chunkWords
	if err := ring128.Decode(in.words[first:min(first+chunkWords, len(in.words))], m.Body); err != nil {
		return m.Malformed(err)
	}
	in.mark(m)
	return nil
}
