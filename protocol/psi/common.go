package psi

import (
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// A message Common of round 4 lists positions of common elements in a set. The body holds the
// number of all common elements, and then some positions of 4 bytes each.

// trace records the positions of common elements that have arrived for one set.
type trace struct {
	have    []bool // whether each chunk has arrived; nil before the first chunk
	missing int
	total   int    // number of common elements
	seen    []bool // whether each position has occurred; a repeated position is refused
}

func (t *trace) complete() bool { return t.have != nil && t.missing == 0 }

// take records the positions in one chunk. The argument total is the number of common elements that
// the chunk states, and size is the number of elements in the set.
func (t *trace) take(m protocol.Message, total int, places []uint32, size int) error {
	next := *t
	switch {
	case t.have == nil:
		next = trace{have: make([]bool, m.Chunks), missing: int(m.Chunks), total: total, seen: make([]bool, size)}
	case t.total != total:
		return m.Inconsistent("the message names %d common rows, an earlier message %d", total, t.total)
	case t.have[m.Chunk]:
		return m.Unexpected()
	}
	for i, place := range places {
		if next.seen[place] {
			for _, undo := range places[:i] {
				next.seen[undo] = false
			}
			return m.Inconsistent("the message repeats a position")
		}
		next.seen[place] = true
	}
	next.have[m.Chunk] = true
	next.missing--
	*t = next
	return nil
}

// encodePlaces encodes some positions, after the total number of positions.
func encodePlaces(total int, places []uint32) []byte {
	var w wire.Writer
	w.Grow(countBytes * (1 + len(places)))
	w.Uint32(uint32(total))
	for _, place := range places {
		w.Uint32(place)
	}
	return w.Bytes()
}

// decodePlaces decodes one of the n chunks that hold the positions of common elements in a set. The
// argument size is the number of elements in the set, and limit is the largest number of positions
// in a chunk.
func decodePlaces(b []byte, chunk, n uint32, size, limit int) (total int, places []uint32, err error) {
	r := wire.NewReader(b)
	total = int(r.Uint32())
	switch {
	case r.Err() != nil:
	case total < 1 || total > size:
		r.Fail(fmt.Errorf("the message states %d common rows, but the set has %d elements", total, size))
	case int(n) != chunks(total, limit) || chunk >= n:
		r.Fail(fmt.Errorf("the message is chunk %d of %d, but %d positions fill another number of chunks", chunk, n, total))
	}
	if r.Err() == nil {
		places = make([]uint32, min(limit, total-int(chunk)*limit))
	}
	for i := range places {
		if places[i] = r.Uint32(); r.Err() == nil && int64(places[i]) >= int64(size) {
			r.Fail(fmt.Errorf("position %d is outside the set of %d elements", places[i], size))
		}
	}
	return total, places, r.Close("psi: common rows")
}

// tracer returns the member that tells this party which elements of a set are common. It is the
// next party or, if this party blinded the set last, the comparer.
func (c *ring) tracer(owner int) string {
	p := c.party
	if next := p.around(p.self, 1); next != owner {
		return p.parties[next]
	}
	return p.comparer()
}

func (c *ring) receive(m protocol.Message) (protocol.Effects, error) {
	switch {
	case m.Round == roundCommon && m.Kind == kindCommon:
		return c.takeCommon(m)
	case m.Round == roundCommon && m.Kind == kindNone && m.Sender == c.party.comparer():
		if err := single(m, 0); err != nil || !c.passed() {
			return protocol.Effects{}, m.Unexpected()
		}
		return end(&EmptyError{Parties: c.party.parties, Sizes: c.party.sizes()})
	}
	return protocol.Effects{}, m.Unexpected()
}

// passed reports whether the party has sent its own set and passed on all other sets.
func (c *ring) passed() bool {
	for owner := range c.relays {
		if r := &c.relays[owner]; owner != c.party.self && (r.order == nil || r.set != nil) {
			return false
		}
	}
	return c.party.own.sent == c.party.own.total
}

// takeCommon converts received positions of common elements to the order before this party's
// shuffle. It sends the result to the previous party, or stores the result if the set is this
// party's own. The positions of every set pass through every party. So each party checks that the
// comparer states the same number of common rows for all sets. This finds a comparer that shows an
// owner more ids, which the owner shares with only some parties.
func (c *ring) takeCommon(m protocol.Message) (protocol.Effects, error) {
	p, owner := c.party, int(m.Sequence)
	if owner >= len(c.relays) || m.Sender != c.tracer(owner) || !c.passed() {
		return protocol.Effects{}, m.Unexpected()
	}
	r := &c.relays[owner]
	total, places, err := decodePlaces(m.Body, m.Chunk, m.Chunks, len(r.order), p.sizing.positions)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if c.total > 0 && c.total != total {
		return end(protocol.Blame(p.comparer(), protocol.KindInconsistent, fmt.Errorf(
			"psi: for the set of %s, the comparer states %d common rows, but for another set %d; the numbers must be equal", p.parties[owner], total, c.total)))
	}
	if err := r.trace.take(m, total, places, len(r.order)); err != nil {
		return protocol.Effects{}, err
	}
	c.total = total
	for i, place := range places {
		places[i] = r.order[place]
	}
	if owner == p.self {
		c.keep(int(m.Chunk)*p.sizing.positions, total, places)
		return protocol.Effects{}, nil
	}
	to := p.parties[p.around(p.self, -1)]
	back := p.message(to, roundCommon, kindCommon, owner, int(m.Chunk), int(m.Chunks), encodePlaces(total, places))
	return protocol.Effects{Sync: true, Send: []protocol.Message{back}}, nil
}

// keep stores the party's own common rows in c.common, beginning at index start.
func (c *ring) keep(start, total int, rows []uint32) {
	if c.common == nil {
		c.common = make([]int, total)
	}
	for i, row := range rows {
		c.common[start+i] = int(row)
	}
}

// rows returns the party's common rows in the byte order of their tokens. It returns nil before all
// of them have arrived.
func (c *ring) rows() []int {
	if !c.relays[c.party.self].trace.complete() {
		return nil
	}
	return c.common
}
