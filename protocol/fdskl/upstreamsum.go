package fdskl

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// window is the number of chunks that a worker is allowed to be ahead of its parent. So a worker
// holds at most this number of chunks for each tree, whatever the number of its children. Parents
// grant flow-control credit for half a window at a time.
//
// A parent that only postponed early chunks would leave them in a queue that all senders share. A
// fast child could fill this queue with chunks that must wait for a slow child's chunks, and the
// slow child would find no room.
const (
	window = 8
	grant  = window / 2
)

// upstreamSum adds up the chunks of a worker's children in one tree for one request. Chunks can
// arrive in any order and are released one by one.
type upstreamSum struct {
	round    uint16
	parent   int // the worker that receives the sum; Root at the root
	children []int
	chunks   int
	next     int // index of the next chunk to send up or to use
	credit   int // the parent accepts chunks with an index below this number
	slots    [window]slot
}

// slot is the sum of one chunk's words from all children whose words have arrived.
type slot struct {
	arrived uint64 // bit i is set once the words of child i have arrived
	words   []byte
}

func (p *upstreamSum) done() bool { return p.next == p.chunks }

// missingChild returns the first child whose words for the next chunk have not arrived.
func (p *upstreamSum) missingChild() (child int, some bool) {
	if p.done() {
		return 0, false
	}
	if i := bits.TrailingZeros64(^p.slots[p.next%window].arrived); i < len(p.children) {
		return p.children[i], true
	}
	return 0, false
}

// ready reports whether the next chunk is complete, and can now be sent or used.
func (p *upstreamSum) ready() bool {
	_, some := p.missingChild()
	return !some && p.next < min(p.chunks, p.credit)
}

// addWords adds a child's words to the sum for the same chunk. It can keep the message's body.
func (p *upstreamSum) addWords(m protocol.Message, child, size int, r ring) error {
	i, chunk := slices.Index(p.children, child), int(m.Chunk)
	if i < 0 || int(m.Chunks) != p.chunks || chunk < p.next || chunk >= p.next+window {
		return m.Unexpected()
	}
	s := &p.slots[chunk%window]
	switch {
	case s.arrived&(1<<i) != 0:
		return m.Unexpected()
	case len(m.Body) != size:
		return m.Malformed(fmt.Errorf("the chunk has %d bytes of words; it must have %d", len(m.Body), size))
	case s.words == nil:
		s.words = m.Body
	default:
		r.add(s.words, m.Body)
	}
	s.arrived |= 1 << i
	return nil
}

// takeNext returns the children's sum for the next chunk, or nil for a leaf, and advances to the
// following chunk.
func (p *upstreamSum) takeNext() []byte {
	s := &p.slots[p.next%window]
	words := s.words
	*s = slot{}
	p.next++
	return words
}

// grants reports whether it is now time to grant the children more flow-control credit.
func (p *upstreamSum) grants() bool { return p.next%grant == 0 && p.next+grant < p.chunks }

// receiveRoom raises this worker's flow-control credit after the parent has used all chunks below
// m.Chunk.
func (p *upstreamSum) receiveRoom(m protocol.Message) error {
	used := int(m.Chunk)
	if int(m.Chunks) != p.chunks || used%grant != 0 || used > p.next {
		return m.Unexpected()
	}
	p.credit = max(p.credit, used+window)
	return nil
}

// Passive is a worker that has columns but no labels. It answers requests for phases and learns
// only which rows are used when.
type Passive struct{ worker }

// NewPassive returns the machine of a passive worker, or an error if its input does not match the
// session.
func NewPassive(s protocol.Setup, in Input, id Identity) (*Passive, error) {
	return newPassive(s, in, id, protocol.MaxChunkBytes)
}

func newPassive(s protocol.Setup, in Input, id Identity, chunk int) (*Passive, error) {
	w, err := newWorker(s, in, id, protocol.RoleParty, chunk)
	if err != nil {
		return nil, err
	}
	return &Passive{w}, nil
}

// Step implements [protocol.Machine].
func (p *Passive) Step(e protocol.Event) (protocol.Effects, error) { return p.step(p, e) }

func (p *Passive) receive(m protocol.Message) (protocol.Effects, error) { return p.processMessage(m) }

func (p *Passive) ready() bool { return p.canSend() }

func (p *Passive) resume() protocol.Effects { return p.sendNext() }

func (p *Passive) awaits() await { return p.awaitsOthers() }
