package fdskl

import "github.com/mercer-fl/mercer/protocol"

// Round 2, Request: an active worker asks all others at once for a block of
// phases (line 3 of Algorithm 1). It signs what it asks for.
func (w *worker) receiveRequest(l *lane, counter uint32, m protocol.Message) (protocol.Effects, error) {
	switch {
	case m.Sender != l.names[0] || counter != l.counter+1 || !l.idle():
		return protocol.Effects{}, m.Unexpected()
	case !w.met() || !l.witnessed:
		return protocol.Effects{}, protocol.ErrLater
	}
	s, err := decodeRequest(m.Body, len(w.names))
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if s.request.shares && l.owed {
		return protocol.Effects{}, m.Unexpected() // it has not finished its last iteration
	}
	if err := l.marks.check(s.request, l.owned, w.most()); err != nil {
		return protocol.Effects{}, m.Inconsistent("%w", err)
	}
	signed := witness{s.request.hash(w.setup.Session.ID(), m.Sequence, l.trees), s.signature}
	if !w.verifies(l, signed) {
		return protocol.Effects{}, m.Inconsistent("%w", errUnsigned)
	}
	l.marks.set(s.request)
	l.counter, l.witnessed, l.task = counter, l.self == 1, w.newTask(l, s.request, signed)
	e := protocol.Effects{Sync: true}
	if next := l.self + 1; next < len(l.names) {
		e.Send = []protocol.Message{w.message(l, l.names[next], roundWitness, signed.encode())}
	}
	return e, nil
}

// most returns the largest number of directions that one request can ask for.
func (w *worker) most() int { return w.chunk / w.params.ring().bytes() }
