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

// Rounds 4 and 5, Phases and Masks (lines 2 to 7 of Algorithm 3): sums of words go up a tree, chunk
// by chunk. In mode hardened a worker adds its phases under masks that cancel in the total sum. In
// mode paper it adds its phases under its own mask in the first tree, and that mask alone in the
// second tree.

// newTask returns the state with which a worker begins to answer a request.
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
	t.offsets = directionOffsets(w.setup, l.self, len(l.names), q.Directions, r)
	return t
}

// directionOffsets returns a worker's part of the phase offsets b in mode paper, one word for each
// direction. A randomly drawn worker that did not make the request (the paper's l', line 6 of
// Algorithm 3) adds b, and all others add zero. The choice of this worker and the offset depend on
// the direction only, because an offset that differed from row to row would make the feature
// worthless.
func directionOffsets(s protocol.Setup, self, workers int, d Span, r ring) []byte {
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
	p := upstreamSum{parent: t[self], children: t.children(self), chunks: chunks, credit: window}
	if p.parent == Root {
		p.credit = chunks
	}
	return p
}

// ownMask returns the mask that a worker adds in mode paper (the paper's b^l). It is secret and
// fresh for each row, direction and request. One mask for each direction, as in the paper, would
// reveal the difference of two rows' phases to anyone who receives both masked phases.
func ownMask(s protocol.Setup, request [sha256.Size]byte) mask {
	id := s.Session.ID()
	return newMask(prg.Derive(s.Seed, "fdskl/own", id[:], request[:]), false)
}

// pairMasks returns a worker's masks for one request, one mask for each other worker. Of each pair,
// the worker with the lower number adds the mask and the other subtracts it, so that the masks of
// all workers cancel.
func pairMasks(id protocol.SessionID, self int, shared [][32]byte, request [sha256.Size]byte) []mask {
	var list []mask
	for other, secret := range shared {
		if other != self {
			list = append(list, newMask(prg.Derive(secret, "fdskl/pair", id[:], request[:]), other < self))
		}
	}
	return list
}

// answered reports whether this worker has sent or used all chunks of the request.
func (t *task) answered() bool {
	for i := range t.upstream {
		if !t.upstream[i].done() {
			return false
		}
	}
	return true
}

// ownWords returns the worker's own, unmasked part of a chunk's phases.
func (w *worker) ownWords(t *task, chunk int) []byte {
	rows := t.request.rows(t.layout.span(chunk))
	words := make([]byte, t.layout.size(chunk))
	w.input.Source.Block(words, rows, t.request.Directions.First, t.request.Directions.Count)
	for at := 0; t.offsets != nil && at < len(words); at += len(t.offsets) {
		w.params.ring().add(words[at:at+len(t.offsets)], t.offsets)
	}
	return words
}

// receiveWords adds a child's sum for one chunk to this worker's sum. It postpones the message if
// the child already answers the next request, which has not reached this worker yet.
func (w *worker) receiveWords(l *requests, counter uint32, m protocol.Message) error {
	tree, _ := w.treeOf(m.Round)
	child := l.place(m.Sender)
	switch {
	case l.trees[tree][child] == l.self && !l.isOwn() && counter == l.counter+1:
		return protocol.ErrLater
	case l.task == nil || counter != l.counter || int(m.Chunk) >= l.task.layout.chunks():
		return m.Unexpected()
	}
	return l.task.upstream[tree].addWords(m, child, l.task.layout.size(int(m.Chunk)), w.params.ring())
}

// receiveRoom processes a parent's grant of flow-control credit. It ignores a grant for an earlier
// request.
func (w *worker) receiveRoom(l *requests, counter uint32, m protocol.Message) error {
	tree, _ := w.treeOf(m.Round)
	switch {
	case l.task == nil || counter > l.counter || l.place(m.Sender) != l.trees[tree][l.self]:
		return m.Unexpected()
	case len(m.Body) > 0:
		return m.Malformed(fmt.Errorf("the grant of flow-control credit has %d bytes; it must be empty", len(m.Body)))
	case counter < l.counter:
		return nil
	}
	return l.task.upstream[tree].receiveRoom(m)
}

// canSend reports whether this worker can send its parent a chunk for another worker's request.
func (w *worker) canSend() bool {
	l, _ := w.nextUp()
	return l != nil
}

// nextUp finds a chunk that this worker can send to its parent. It returns the requests and the
// tree to which the chunk belongs. The requests are nil if no chunk can go up.
func (w *worker) nextUp() (*requests, int) {
	for i := range w.queues {
		l := &w.queues[i]
		for tree := 0; !l.isOwn() && l.task != nil && tree < len(l.task.upstream); tree++ {
			if l.task.upstream[tree].ready() {
				return l, tree
			}
		}
	}
	return nil, 0
}

// sendNext sends the next chunk to the parent, and flow-control credit to the children.
func (w *worker) sendNext() protocol.Effects {
	l, tree := w.nextUp()
	t, r := l.task, w.params.ring()
	p := &t.upstream[tree]
	chunk := p.next
	words := make([]byte, t.layout.size(chunk))
	if tree == 0 {
		words = w.ownWords(t, chunk)
	}
	r.apply(t.masks, chunk, words)
	if sum := p.takeNext(); sum != nil {
		r.add(words, sum)
	}
	m := w.message(l, l.names[p.parent], p.round, words).Piece(chunk, p.chunks)
	return protocol.Effects{Send: append([]protocol.Message{m}, w.grantRoom(l, tree)...), Progress: l.task.progress()}
}

// grantRoom returns the messages that grant more flow-control credit to the worker's children in a
// tree.
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

// progress returns how many chunks of the request have gone up the first tree, and how many there are.
func (t *task) progress() protocol.Progress {
	return protocol.Progress{Stage: "phases", Done: int64(t.upstream[0].next), Total: int64(t.upstream[0].chunks)}
}

// awaitsOthers returns the missing message that this worker waits for, or the next request if no
// message is missing.
func (w *worker) awaitsOthers() await {
	if a, some := w.awaitsPeer(); some {
		return a
	}
	for i := range w.queues {
		if l := &w.queues[i]; !l.finished && !l.isOwn() {
			return await{TimerRequest, l.names[0], "the next request"}
		}
	}
	return await{}
}

// awaitsPeer returns the missing message that this worker waits for: a key, a child's words, a
// parent's flow-control credit or a witness.
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
		if child, some := p.missingChild(); some {
			return await{TimerPhases, l.names[child], kindOf(p.round)}, true
		}
	}
	for i := 0; l.task != nil && i < len(l.task.upstream); i++ {
		if p := &l.task.upstream[i]; !p.done() && !p.ready() {
			return await{TimerPhases, l.names[p.parent], "room for " + kindOf(p.round)}, true
		}
	}
	if !l.witnessed && !l.isOwn() {
		return await{TimerPhases, l.names[l.self-1], "a witness"}, true
	}
	return await{}, false
}

// layout is the division of a request's words, row after row, into chunks of whole rows.
type layout struct {
	rows, rowBytes int
	perChunk       int // number of rows in a chunk
}

func newLayout(q Request, r ring, chunkBytes int) layout {
	rowBytes := q.Directions.Count * r.bytes()
	return layout{q.rowCount(), rowBytes, max(1, chunkBytes/rowBytes)}
}

func (l layout) chunks() int { return (l.rows-1)/l.perChunk + 1 }

// span returns the range of rows in a chunk, lo to hi-1, counted within the request.
func (l layout) span(chunk int) (lo, hi int) {
	return chunk * l.perChunk, min((chunk+1)*l.perChunk, l.rows)
}

// size returns the size of a chunk in bytes.
func (l layout) size(chunk int) int {
	lo, hi := l.span(chunk)
	return (hi - lo) * l.rowBytes
}

// requests holds what this worker knows about the requests of one active worker.
type requests struct {
	index     int
	names     []string // names of the workers, this active worker first; the index is the worker's number in the trees
	self      int
	trees     []Tree
	owned     Span // the directions that this active worker is allowed to request
	marks     marks
	counter   uint32 // number of the last request, counted from 1; 0 before the first
	task      *task  // nil before the first request
	witnessed bool   // whether the previous worker's witness for the last request has arrived; true if none is due
	owed      bool   // whether this worker still has to send the active worker a part of the model function f
	finished  bool
}

// task is the state of the request in progress or, between requests, of the last request.
type task struct {
	request  Request
	signed   witness
	layout   layout
	upstream []upstreamSum // one sum for each tree
	masks    []mask
	offsets  []byte // in mode paper, this worker's part of the phase offsets, one word for each direction
}

// workerNames returns the names of the workers. The active worker with the given index is the
// first.
func workerNames(s *protocol.Session, index int) []string {
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

// isOwn reports whether the requests are this worker's own.
func (l *requests) isOwn() bool { return l.self == 0 }

// idle reports whether the last request is complete.
func (l *requests) idle() bool { return l.task == nil || l.task.answered() }

// requestsOf returns the state for the active worker whose request a message concerns, and the
// counter of this request.
func (w *worker) requestsOf(m protocol.Message) (*requests, uint32) {
	n := uint32(len(w.queues))
	return &w.queues[m.Sequence%n], m.Sequence / n
}

// sequence returns the sequence number of an active worker's request, which is unique among the
// requests of all active workers.
func (w *worker) sequence(l *requests, counter uint32) uint32 {
	return counter*uint32(len(w.queues)) + uint32(l.index)
}

// witness is the hash and signature of a request, which one worker shows to the next.
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

var errUnsigned = errors.New("the request does not have a valid signature of the active worker that it is from")

// verifies reports whether the active worker's signature of a request is valid.
func (w *worker) verifies(l *requests, v witness) bool {
	return ed25519.Verify(w.identity.Keys[l.index], v.hash[:], v.signature[:])
}

// Round 3, Witness: each worker that answers a request shows the request's hash and signature to
// the next worker. If the active worker sends different requests, some worker then holds the signed
// hashes of two requests with the same counter. In mode hardened, phases are safe even without witnesses,
// because the masks of different requests do not cancel. The witness proves that the active worker is at
// fault.
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
			fmt.Errorf("fdskl: request %d to %s differs from the request to %s, although %s has signed both", counter, w.setup.Self, m.Sender, l.names[0]))), nil
	}
	return protocol.Effects{}, nil
}
