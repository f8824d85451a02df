package fdskl

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// answer takes what a worker gets as one who answers others.
func (w *worker) answer(m protocol.Message) (protocol.Effects, error) {
	if m.Round == roundKeys {
		return w.receiveKey(m)
	}
	l, counter := w.laneOf(m)
	_, climbs := w.climbs(m.Round)
	switch {
	case l.finished:
		return protocol.Effects{}, l.late(m)
	case m.Kind == kindRoom:
		return protocol.Effects{}, w.receiveRoom(l, counter, m)
	case climbs:
		return protocol.Effects{}, w.receiveWords(l, counter, m)
	case l.own():
		return protocol.Effects{}, stray(m)
	case m.Round == roundRequest:
		return w.receiveRequest(l, counter, m)
	case m.Round == roundWitness:
		return w.receiveWitness(l, counter, m)
	case m.Round == roundFinish:
		return w.receiveFinish(l, counter, m)
	}
	return protocol.Effects{}, stray(m)
}

// late is nil for a parent's word on room that comes behind the lane's end.
func (l *lane) late(m protocol.Message) error {
	if tree := int(m.Round) - int(roundPhases); m.Kind == kindRoom && len(m.Body) == 0 && l.trees[tree][l.self] == l.place(m.Sender) {
		return nil
	}
	return stray(m)
}

// Round 2, Request: an active worker asks all others at once for a block of
// phases (line 3 of Algorithm 1). It signs what it asks for.
func (w *worker) receiveRequest(l *lane, counter uint32, m protocol.Message) (protocol.Effects, error) {
	switch {
	case m.Sender != l.names[0] || counter != l.counter+1 || !l.idle():
		return protocol.Effects{}, stray(m)
	case !w.met() || !l.witnessed:
		return protocol.Effects{}, protocol.ErrLater
	}
	s, err := decodeRequest(m.Body, len(w.names))
	if err != nil {
		return protocol.Effects{}, malformed(m, "%w", err)
	}
	if err := l.marks.check(s.request, l.owned, w.most()); err != nil {
		return protocol.Effects{}, inconsistent(m, err)
	}
	signed := witness{s.request.hash(w.setup.Session.ID(), m.Sequence, l.trees), s.signature}
	if !w.verifies(l, signed) {
		return protocol.Effects{}, inconsistent(m, errUnsigned)
	}
	l.marks.set(s.request)
	l.counter, l.witnessed, l.task = counter, l.self == 1, w.newTask(l, s.request, signed)
	e := protocol.Effects{Sync: true}
	if next := l.self + 1; next < len(l.names) {
		e.Send = []protocol.Message{w.message(l, l.names[next], roundWitness, signed.encode())}
	}
	return e, nil
}

var errUnsigned = errors.New("a request that the active worker has not signed")

// verifies says whether a lane's active worker has signed a request.
func (w *worker) verifies(l *lane, v witness) bool {
	return ed25519.Verify(w.identity.Keys[l.index], v.hash[:], v.signature[:])
}

// most is how many directions can be asked for at once.
func (w *worker) most() int { return w.chunk / w.params.ring().bytes() }

// Round 3, Witness: each worker that answers shows the next what it was asked
// for. Who was asked for something else holds two requests of one counter with
// the active worker's signature. The phases are safe without it, since their
// masks do not cancel then; this tells who spoiled them.
func (w *worker) receiveWitness(l *lane, counter uint32, m protocol.Message) (protocol.Effects, error) {
	switch {
	case l.self == 1 || l.place(m.Sender) != l.self-1:
		return protocol.Effects{}, stray(m)
	case counter == l.counter+1:
		return protocol.Effects{}, protocol.ErrLater
	case counter != l.counter || l.witnessed:
		return protocol.Effects{}, stray(m)
	}
	v, err := decodeWitness(m.Body)
	if err != nil {
		return protocol.Effects{}, malformed(m, "%w", err)
	}
	if !w.verifies(l, v) {
		return protocol.Effects{}, inconsistent(m, errUnsigned)
	}
	l.witnessed = true
	if v.hash != l.task.signed.hash {
		return finish(protocol.Blame(l.names[0], protocol.KindEquivocation,
			fmt.Errorf("fdskl: request %d to %s and that to %s differ, and %s has signed both", counter, w.setup.Self, m.Sender, l.names[0]))), nil
	}
	return protocol.Effects{}, nil
}

// Round 6, Finish: the active worker needs nothing more.
func (w *worker) receiveFinish(l *lane, counter uint32, m protocol.Message) (protocol.Effects, error) {
	switch {
	case m.Sender != l.names[0] || counter != l.counter || !l.idle():
		return protocol.Effects{}, stray(m)
	case !w.met() || !l.witnessed:
		return protocol.Effects{}, protocol.ErrLater
	case len(m.Body) > 0:
		return protocol.Effects{}, malformed(m, "%d bytes where none belong", len(m.Body))
	}
	l.finished = true
	return w.endIfFinished(protocol.Effects{}), nil
}

// endIfFinished ends the session once nobody asks for anything more.
func (w *worker) endIfFinished(e protocol.Effects) protocol.Effects {
	for i := range w.lanes {
		if !w.lanes[i].finished {
			return e
		}
	}
	e.Sync, e.End = true, &protocol.End{}
	return e
}
