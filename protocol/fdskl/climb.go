package fdskl

import (
	"github.com/mercer-fl/mercer/protocol"
)

// Rounds 4 and 5, Phases and Masks (lines 2 to 7 of Algorithm 3): sums of words
// climb a tree, chunk by chunk. In mode hardened a worker adds its phases under
// masks that cancel when all are added up. In mode paper it adds its phases under
// a mask of its own in the first tree, and that mask by itself in the second.

// newTask prepares to answer a request.
func (w *worker) newTask(q Request, signed witness) *task {
	t := &task{request: q, signed: signed, layout: newLayout(q, w.params.ring(), w.chunk)}
	for i, tree := range w.trees {
		t.passes = append(t.passes, newPass(tree, w.self, roundPhases+uint16(i), t.layout.chunks()))
	}
	if w.params.spec.Mode == Hardened {
		t.masks = pairMasks(w.setup.Session.ID(), w.self, w.shared, signed.hash)
		return t
	}
	t.masks = []mask{ownMask(w.setup, signed.hash)}
	t.phases = directionPhases(w.setup, w.self, len(w.names), q.Directions, w.params.ring())
	return t
}

// answered says whether everything has gone up.
func (t *task) answered() bool {
	for i := range t.passes {
		if !t.passes[i].done() {
			return false
		}
	}
	return true
}

// own is the worker's own part of a chunk's phases.
func (w *worker) own(chunk int) []byte {
	t := w.task
	rows := t.request.rows(t.layout.span(chunk))
	words := make([]byte, t.layout.size(chunk))
	w.input.Source.Block(words, rows, t.request.Directions.First, t.request.Directions.Count)
	for at := 0; t.phases != nil && at < len(words); at += len(t.phases) {
		w.params.ring().add(words[at:at+len(t.phases)], t.phases)
	}
	return words
}

// receiveWords takes a child's sum of one chunk.
func (w *worker) receiveWords(m protocol.Message) (protocol.Effects, error) {
	tree, _ := w.climbs(m.Round)
	if w.task == nil || m.Sequence != w.counter || int(m.Chunk) >= w.task.layout.chunks() {
		return protocol.Effects{}, stray(m)
	}
	return protocol.Effects{}, w.task.passes[tree].take(m, w.index(m.Sender), w.task.layout.size(int(m.Chunk)), w.params.ring())
}

// receiveRoom takes a parent's word that more may be sent. One for an earlier
// request has been overtaken by others.
func (w *worker) receiveRoom(m protocol.Message) (protocol.Effects, error) {
	tree, _ := w.climbs(m.Round)
	switch {
	case w.task == nil || m.Sequence > w.counter || w.index(m.Sender) != w.trees[tree][w.self]:
		return protocol.Effects{}, stray(m)
	case len(m.Body) > 0:
		return protocol.Effects{}, malformed(m, "%d bytes where none belong", len(m.Body))
	case m.Sequence < w.counter:
		return protocol.Effects{}, nil
	}
	return protocol.Effects{}, w.task.passes[tree].receiveRoom(m)
}

// send passes the next chunk of a tree on to the parent.
func (w *worker) send(tree int) protocol.Message {
	p := &w.task.passes[tree]
	chunk, r := p.next, w.params.ring()
	var words []byte
	if tree == 0 {
		words = w.own(chunk)
	} else {
		words = make([]byte, w.task.layout.size(chunk))
	}
	r.apply(w.task.masks, chunk, words)
	if sum := p.release(); sum != nil {
		r.add(words, sum)
	}
	m := w.message(p.parent, p.round, w.counter, words)
	m.Chunk, m.Chunks = uint32(chunk), uint32(p.chunks)
	return m
}

// grantRoom tells the children of a tree that they may send more.
func (w *worker) grantRoom(tree int) []protocol.Message {
	p := &w.task.passes[tree]
	if !p.grants() {
		return nil
	}
	var list []protocol.Message
	for _, c := range p.children {
		m := w.message(c, p.round, w.counter, nil)
		m.Kind, m.Chunk, m.Chunks = kindRoom, uint32(p.next), uint32(p.chunks)
		list = append(list, m)
	}
	return list
}

// progress counts chunks.
func (w *worker) progress() protocol.Progress {
	p := &w.task.passes[0]
	return protocol.Progress{Stage: "phases", Done: int64(p.next), Total: int64(p.chunks)}
}

// awaitsPeer says for whom the worker waits before it can do its part: a key, a
// child, or a parent that has no room.
func (w *worker) awaitsPeer() (await, bool) {
	for i, here := range w.agreed {
		if w.key != nil && !here {
			return await{TimerPhases, i, "a key"}, true
		}
	}
	if w.task == nil {
		return await{}, false
	}
	for i := range w.task.passes {
		p := &w.task.passes[i]
		if child, some := p.missing(); some {
			return await{TimerPhases, child, kindOf(p.round)}, true
		}
	}
	for i := range w.task.passes {
		if p := &w.task.passes[i]; !p.done() && !p.ready() {
			return await{TimerPhases, p.parent, "room for " + kindOf(p.round)}, true
		}
	}
	return await{}, false
}
