package sealed

import "github.com/mercer-fl/mercer/protocol"

// arrivals knows which chunks of one message have arrived.
type arrivals struct {
	seen []bool
	left int
}

func newArrivals(chunks int) arrivals { return arrivals{seen: make([]bool, chunks), left: chunks} }

func (p *arrivals) complete() bool { return p.left == 0 }

// admit returns an error if m has another number of chunks, or if the same chunk has arrived before.
func (p *arrivals) admit(m protocol.Message) error {
	switch {
	case int64(m.Chunks) != int64(len(p.seen)) || int64(m.Chunk) >= int64(len(p.seen)):
		return m.Inconsistent("the message is chunk %d (from 0) of %d; %d chunks are expected", m.Chunk, m.Chunks, len(p.seen))
	case p.seen[m.Chunk]:
		return m.Unexpected()
	}
	return nil
}

func (p *arrivals) mark(m protocol.Message) {
	p.seen[m.Chunk] = true
	p.left--
}

// parcel collects the body of a message whose length is known, from chunks in any order. A parcel of no bytes is
// complete: no message is expected.
type parcel struct {
	arrivals
	body []byte
}

func newParcel(length int) *parcel {
	return &parcel{arrivals: newArrivals(parcelChunks(length)), body: make([]byte, length)}
}

func parcelChunks(length int) int {
	return (length + protocol.MaxChunkBytes - 1) / protocol.MaxChunkBytes
}

// accept takes one chunk, and leaves the parcel as it was if it refuses.
func (p *parcel) accept(m protocol.Message) error {
	if err := p.admit(m); err != nil {
		return err
	}
	first := int(m.Chunk) * protocol.MaxChunkBytes
	place := p.body[first:min(first+protocol.MaxChunkBytes, len(p.body))]
	if len(m.Body) != len(place) {
		return m.Inconsistent("chunk %d has %d bytes; it has to have %d", m.Chunk, len(m.Body), len(place))
	}
	copy(place, m.Body)
	p.mark(m)
	return nil
}
