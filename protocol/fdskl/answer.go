package fdskl

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// processMessage processes another worker's key, or a message that concerns the requests of an
// active worker.
func (w *worker) processMessage(m protocol.Message) (protocol.Effects, error) {
	if m.Round == roundKeys {
		return w.receiveKey(m)
	}
	l, counter := w.requestsOf(m)
	_, up := w.treeOf(m.Round)
	switch {
	case l.finished:
		return protocol.Effects{}, l.acceptLate(m)
	case m.Kind == kindRoom:
		return protocol.Effects{}, w.receiveRoom(l, counter, m)
	case up:
		return protocol.Effects{}, w.receiveWords(l, counter, m)
	case l.isOwn():
		return protocol.Effects{}, m.Unexpected()
	case m.Round == roundRequest:
		return w.receiveRequest(l, counter, m)
	case m.Round == roundWitness:
		return w.receiveWitness(l, counter, m)
	case m.Round == roundFinish:
		return w.receiveFinish(l, counter, m)
	}
	return protocol.Effects{}, m.Unexpected()
}

// acceptLate checks a message that arrives after an active worker has finished its requests. It
// accepts a parent's flow-control credit, and refuses all other messages.
func (l *requests) acceptLate(m protocol.Message) error {
	if tree := int(m.Round) - int(roundPhases); m.Kind == kindRoom && len(m.Body) == 0 && l.trees[tree][l.self] == l.place(m.Sender) {
		return nil
	}
	return m.Unexpected()
}

// Round 6, Finish: an active worker announces that it makes no more requests.
func (w *worker) receiveFinish(l *requests, counter uint32, m protocol.Message) (protocol.Effects, error) {
	switch {
	case m.Sender != l.names[0] || counter != l.counter || !l.idle():
		return protocol.Effects{}, m.Unexpected()
	case !w.met() || !l.witnessed:
		return protocol.Effects{}, protocol.ErrLater
	case len(m.Body) > 0:
		return protocol.Effects{}, m.Malformed(fmt.Errorf("the message has %d bytes; it must be empty", len(m.Body)))
	}
	l.finished = true
	return w.endIfFinished(protocol.Effects{}), nil
}

// endIfFinished ends the session if all active workers have finished their requests. It adds the
// end to e.
func (w *worker) endIfFinished(e protocol.Effects) protocol.Effects {
	for i := range w.queues {
		if !w.queues[i].finished {
			return e
		}
	}
	e.Sync, e.End = true, &protocol.End{}
	return e
}
