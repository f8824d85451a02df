package fdskl

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
)

// Rounds 4 and 5, Phases and Masks (lines 2 to 7 of Algorithm 3): sums of words
// go up a tree, chunk by chunk. In mode hardened a worker adds its phases under
// masks that cancel when all are added up. In mode paper it adds its phases under
// a mask of its own in the first tree, and that mask by itself in the second.

// newTask prepares to answer a request.
func (w *worker) newTask(l *requests, q Request, signed witness) *task {
	r := w.params.ring()
	t := &task{request: q, signed: signed, layout: newLayout(q, r, w.chunk)}
	for i, tree := range l.trees {
		t.upstream = append(t.upstream, newUpstreamSum(tree, l.self, t.layout.chunks()))
		t.upstream[i].round = roundPhases + uint16(i)
	}
	if w.params.spec.Mode == Hardened {
		t.masks = pairMasks(w.setup.Session.ID(), w.self, w.shared, signed.hash)
		return t
	}
	t.masks = []mask{ownMask(w.setup, signed.hash)}
	t.phases = directionPhases(w.setup, l.self, len(l.names), q.Directions, r)
	return t
}

// directionPhases returns worker self's share of mode paper's b, one for each direction of the
// request: a randomly drawn passive worker (the paper's l', line 6 of Algorithm 3) adds b, and the
// share of all others is zero. Both draws depend on the direction only, since an offset that
// differed from row to row would make the feature worthless.
func directionPhases(s protocol.Setup, self, workers int, d Span, r ring) []byte {
	id := s.Session.ID()
	drawn := prg.New(id, "fdskl/drawn")
	own := prg.New(s.Seed, "fdskl/phase", id[:])
	row := make([]byte, d.Count*r.bytes())
	for j := range d.Count {
		block := uint64(d.First + j)
		drawn.Seek(block)
		if 1+int(drawn.Uint64n(uint64(workers-1))) == self {
			own.Seek(block)
			r.put(row, j, uint32(own.Uint64()))
		}
	}
	return row
}

func newUpstreamSum(t Tree, self int, chunks int) upstreamSum {
	p := upstreamSum{parent: t[self], children: t.children(self), chunks: chunks, room: window}
	if p.parent == Root {
		p.room = chunks
	}
	return p
}

// ownMask returns mode paper's b^l, private to the worker and fresh for each (row, direction,
// request). One mask for each direction, as in the paper, would reveal the difference of two rows'
// phases to anyone who receives both.
func ownMask(s protocol.Setup, request [sha256.Size]byte) mask {
	id := s.Session.ID()
	return newMask(prg.Derive(s.Seed, "fdskl/own", id[:], request[:]), false)
}

// pairMasks returns the masks that worker self shares with the others for one request: r_l = sum
// over m > l of PRG_lm - sum over m < l of PRG_lm, so that the masks of all workers cancel.
func pairMasks(id protocol.SessionID, self int, shared [][32]byte, request [sha256.Size]byte) []mask {
	var list []mask
	for other, secret := range shared {
		if other != self {
			list = append(list, newMask(prg.Derive(secret, "fdskl/pair", id[:], request[:]), other < self))
		}
	}
	return list
}

// answered reports whether all chunks have been sent.
func (t *task) answered() bool {
	for i := range t.upstream {
		if !t.upstream[i].done() {
			return false
		}
	}
	return true
}

// words returns the worker's own part of a chunk's phases.
func (w *worker) words(t *task, chunk int) []byte {
	rows := t.request.rows(t.layout.span(chunk))
	words := make([]byte, t.layout.size(chunk))
	w.input.Source.Block(words, rows, t.request.Directions.First, t.request.Directions.Count)
	for at := 0; t.phases != nil && at < len(words); at += len(t.phases) {
		w.params.ring().add(words[at:at+len(t.phases)], t.phases)
	}
	return words
}

// receiveWords processes a child's sum of one chunk. The request may have reached the child before
// this worker.
func (w *worker) receiveWords(l *requests, counter uint32, m protocol.Message) error {
	tree, _ := w.goesUp(m.Round)
	child := l.place(m.Sender)
	switch {
	case l.trees[tree][child] == l.self && !l.own() && counter == l.counter+1:
		return protocol.ErrLater
	case l.task == nil || counter != l.counter || int(m.Chunk) >= l.task.layout.chunks():
		return m.Unexpected()
	}
	return l.task.upstream[tree].take(m, child, l.task.layout.size(int(m.Chunk)), w.params.ring())
}

// receiveRoom processes a parent's grant of room. It ignores a grant for an earlier request.
func (w *worker) receiveRoom(l *requests, counter uint32, m protocol.Message) error {
	tree, _ := w.goesUp(m.Round)
	switch {
	case l.task == nil || counter > l.counter || l.place(m.Sender) != l.trees[tree][l.self]:
		return m.Unexpected()
	case len(m.Body) > 0:
		return m.Malformed(fmt.Errorf("%d bytes where none belong", len(m.Body)))
	case counter < l.counter:
		return nil
	}
	return l.task.upstream[tree].receiveRoom(m)
}

// sends reports whether a chunk can go up a tree of another worker.
func (w *worker) sends() bool {
	l, _ := w.nextUp()
	return l != nil
}

// nextUp returns the first active worker and tree in which a chunk can go up.
func (w *worker) nextUp() (*requests, int) {
	for i := range w.queues {
		l := &w.queues[i]
		for tree := 0; !l.own() && l.task != nil && tree < len(l.task.upstream); tree++ {
			if l.task.upstream[tree].ready() {
				return l, tree
			}
		}
	}
	return nil, 0
}

// sendNext sends that chunk to the parent, and room to the children.
func (w *worker) sendNext() protocol.Effects {
	l, tree := w.nextUp()
	t, r := l.task, w.params.ring()
	p := &t.upstream[tree]
	chunk := p.next
	words := make([]byte, t.layout.size(chunk))
	if tree == 0 {
		words = w.words(t, chunk)
	}
	r.apply(t.masks, chunk, words)
	if sum := p.release(); sum != nil {
		r.add(words, sum)
	}
	m := w.message(l, l.names[p.parent], p.round, words).Piece(chunk, p.chunks)
	return protocol.Effects{Send: append([]protocol.Message{m}, w.grantRoom(l, tree)...), Progress: l.task.progress()}
}

// grantRoom grants more room to the children of a tree.
func (w *worker) grantRoom(l *requests, tree int) []protocol.Message {
	p := &l.task.upstream[tree]
	if !p.grants() {
		return nil
	}
	var list []protocol.Message
	for _, c := range p.children {
		m := w.message(l, l.names[c], p.round, nil).Piece(p.next, p.chunks)
		m.Kind = kindRoom
		list = append(list, m)
	}
	return list
}

// progress counts chunks.
func (t *task) progress() protocol.Progress {
	return protocol.Progress{Stage: "phases", Done: int64(t.upstream[0].next), Total: int64(t.upstream[0].chunks)}
}

// awaitsOthers returns what the worker waits for: the missing inputs for a request or, if none is
// missing, the next request.
func (w *worker) awaitsOthers() await {
	if a, some := w.awaitsPeer(); some {
		return a
	}
	for i := range w.queues {
		if l := &w.queues[i]; !l.finished && !l.own() {
			return await{TimerRequest, l.names[0], "the next request"}
		}
	}
	return await{}
}

// awaitsPeer returns a missing key, a child's words, a parent's room or a witness.
func (w *worker) awaitsPeer() (await, bool) {
	for i, here := range w.agreed {
		if w.key != nil && !here {
			return await{TimerPhases, w.names[i], "a key"}, true
		}
	}
	for i := range w.queues {
		if a, some := w.queues[i].awaitsPeer(); some {
			return a, true
		}
	}
	return await{}, false
}

func (l *requests) awaitsPeer() (await, bool) {
	for i := 0; l.task != nil && i < len(l.task.upstream); i++ {
		p := &l.task.upstream[i]
		if child, some := p.missing(); some {
			return await{TimerPhases, l.names[child], kindOf(p.round)}, true
		}
	}
	for i := 0; l.task != nil && i < len(l.task.upstream); i++ {
		if p := &l.task.upstream[i]; !p.done() && !p.ready() {
			return await{TimerPhases, l.names[p.parent], "room for " + kindOf(p.round)}, true
		}
	}
	if !l.witnessed && !l.own() {
		return await{TimerPhases, l.names[l.self-1], "a witness"}, true
	}
	return await{}, false
}

// layout divides a request's words, row after row, into chunks of whole rows.
type layout struct {
	rows, rowBytes int
	perChunk       int // rows
}

func newLayout(q Request, r ring, chunkBytes int) layout {
	rowBytes := q.Directions.Count * r.bytes()
	return layout{q.count(), rowBytes, max(1, chunkBytes/rowBytes)}
}

func (l layout) chunks() int { return (l.rows-1)/l.perChunk + 1 }

// span returns the rows of a chunk, counted within the request; it excludes hi.
func (l layout) span(chunk int) (lo, hi int) {
	return chunk * l.perChunk, min((chunk+1)*l.perChunk, l.rows)
}

// size returns the size of a chunk, in bytes.
func (l layout) size(chunk int) int {
	lo, hi := l.span(chunk)
	return (hi - lo) * l.rowBytes
}

// requests holds one active worker's requests as this worker knows them.
type requests struct {
	index     int
	names     []string // of the workers, this active one first: the numbers in its trees
	self      int
	trees     []Tree
	owned     Span // the directions that this active worker may request
	marks     marks
	counter   uint32 // of the last request, from 1
	task      *task  // nil before the first
	witnessed bool   // the last request was shown by the worker before this one
	owed      bool   // this worker, who is active too, owes it a part of f
	finished  bool
}

// task is the request in progress, or the last one.
type task struct {
	request  Request
	signed   witness
	layout   layout
	upstream []upstreamSum // one for each tree
	masks    []mask
	phases   []byte // mode paper: this worker's share of the directions' own
}

// order lists the workers, the active one with the given index first.
func order(s *protocol.Session, index int) []string {
	first := s.With(protocol.RoleLeader)[index]
	names := []string{first}
	for _, name := range s.With(protocol.RoleLeader, protocol.RoleParty) {
		if name != first {
			names = append(names, name)
		}
	}
	return names
}

func (l *requests) place(name string) int { return slices.Index(l.names, name) }

// own reports whether the requests are this worker's own.
func (l *requests) own() bool { return l.self == 0 }

// idle reports whether the last request is complete.
func (l *requests) idle() bool { return l.task == nil || l.task.answered() }

// requestsOf returns the active worker's requests that a message is about, and the counter.
func (w *worker) requestsOf(m protocol.Message) (*requests, uint32) {
	n := uint32(len(w.queues))
	return &w.queues[m.Sequence%n], m.Sequence / n
}

// sequence numbers an active worker's requests among the requests of all.
func (w *worker) sequence(l *requests, counter uint32) uint32 {
	return counter*uint32(len(w.queues)) + uint32(l.index)
}

// witness is the request that one passive worker shows the next.
type witness struct {
	hash      [sha256.Size]byte
	signature [ed25519.SignatureSize]byte
}

const witnessBytes = sha256.Size + ed25519.SignatureSize

func (v witness) encode() []byte { return append(v.hash[:], v.signature[:]...) }

func decodeWitness(b []byte) (v witness, err error) {
	r := wire.NewReader(b)
	r.Fixed(v.hash[:])
	r.Fixed(v.signature[:])
	return v, r.Close("fdskl: witness")
}

var errUnsigned = errors.New("a request that the active worker has not signed")

// verifies reports whether the active worker has signed a request.
func (w *worker) verifies(l *requests, v witness) bool {
	return ed25519.Verify(w.identity.Keys[l.index], v.hash[:], v.signature[:])
}

// Round 3, Witness: each worker that answers shows the next its request. A worker with another
// request then holds two requests of one counter with the active worker's signature. The phases are
// safe without this, since their masks then do not cancel; the witness shows who spoiled them.
func (w *worker) receiveWitness(l *requests, counter uint32, m protocol.Message) (protocol.Effects, error) {
	switch {
	case l.self == 1 || l.place(m.Sender) != l.self-1:
		return protocol.Effects{}, m.Unexpected()
	case counter == l.counter+1:
		return protocol.Effects{}, protocol.ErrLater
	case counter != l.counter || l.witnessed:
		return protocol.Effects{}, m.Unexpected()
	}
	v, err := decodeWitness(m.Body)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if !w.verifies(l, v) {
		return protocol.Effects{}, m.Inconsistent("%w", errUnsigned)
	}
	l.witnessed = true
	if v.hash != l.task.signed.hash {
		return finish(protocol.Blame(l.names[0], protocol.KindEquivocation,
			fmt.Errorf("fdskl: request %d to %s and that to %s differ, and %s has signed both", counter, w.setup.Self, m.Sender, l.names[0]))), nil
	}
	return protocol.Effects{}, nil
}
