package fdskl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// Schedule decides which phases an active worker requests. The next request may depend on the
// phases learned from the last one. It must depend on its own past only, so that a replay makes the
// same requests.
type Schedule interface {
	// Next returns the next request, or false if nothing more is needed. It is called once the last
	// request is answered, in a step of its own.
	Next() (Request, bool)
	// Answer receives the phases of some consecutive rows of the last request: the sums of all
	// workers' words, little-endian, row after row, a word for each direction. The machine reuses
	// words after the call.
	Answer(rows []int, words []byte)
}

// Active is a worker with labels: it requests phases and learns from them.
type Active struct {
	worker
	schedule Schedule
	mine     *requests // of queues
	turns    turns
}

// NewActive returns the machine of an active worker. A schedule serves one machine; with several
// active workers it is a [Partner].
func NewActive(s protocol.Setup, in Input, id Identity, schedule Schedule) (*Active, error) {
	return newActive(s, in, id, schedule, protocol.MaxChunkBytes)
}

func newActive(s protocol.Setup, in Input, id Identity, schedule Schedule, chunk int) (*Active, error) {
	w, err := newWorker(s, in, id, protocol.RoleLeader, chunk)
	if err != nil {
		return nil, err
	}
	if id.Sign == nil || schedule == nil {
		return nil, errors.New("fdskl: an active worker has something to sign with and a schedule of requests")
	}
	if _, ok := schedule.(Partner); len(w.queues) > 1 && !ok {
		return nil, errors.New("fdskl: several active workers exchange parts of the model; give a schedule that is a Partner")
	}
	a := &Active{worker: w, schedule: schedule}
	a.mine = &a.queues[slices.Index(a.leaders(), s.Self)]
	a.turns.done = make([]retirement, len(a.queues))
	a.turns.mine = a.mine.index == 0 || w.params.spec.Asynchronous
	return a, nil
}

// Step implements [protocol.Machine].
func (a *Active) Step(e protocol.Event) (protocol.Effects, error) { return a.step(a, e) }

func (a *Active) receive(m protocol.Message) (protocol.Effects, error) {
	switch m.Round {
	case roundShares:
		return protocol.Effects{}, a.receiveShares(m)
	case roundTurn:
		return a.receiveTurn(m)
	}
	e, err := a.answer(m)
	if l, _ := a.requestsOf(m); err == nil && m.Round == roundRequest {
		a.owe(l, m.Sequence)
	}
	return e, err
}

// ready reports whether there is a chunk to send or to use, or a decision to make.
func (a *Active) ready() bool {
	return a.sends() || a.complete() || a.decides() != nil
}

// decides returns the next action once the last request is answered; nil if there is none.
func (a *Active) decides() func() protocol.Effects {
	t := &a.turns
	switch {
	case !a.met() || a.mine.finished || !a.mine.idle():
		return nil
	case t.iterating > 0 && a.gathered():
		return a.conclude
	case len(t.owed) > 0:
		return a.pay
	case t.iterating > 0:
		return nil
	case a.allDone():
		return a.close
	case t.mine && t.retired(a.mine.index) && !a.params.spec.Asynchronous:
		return a.passTurn
	case t.mine && !t.retired(a.mine.index):
		return a.iterate
	}
	return nil
}

// complete reports whether the next chunk has arrived in every tree.
func (a *Active) complete() bool {
	t := a.mine.task
	if t == nil || t.answered() {
		return false
	}
	for i := range t.upstream {
		if !t.upstream[i].ready() {
			return false
		}
	}
	return true
}

func (a *Active) resume() protocol.Effects {
	switch {
	case a.sends():
		return a.sendNext()
	case a.complete():
		return a.use()
	}
	return a.decides()()
}

// iterate makes the schedule's next request.
func (a *Active) iterate() protocol.Effects {
	q, more := a.schedule.Next()
	switch {
	case !more && a.alone():
		a.signRetirement()
		return a.close()
	case !more:
		return a.retire()
	}
	q.shares = !a.alone()
	e := a.request(q)
	if q.shares {
		a.turns.iterating, a.turns.parts = a.mine.counter, make([][]float64, len(a.queues))
		a.turns.parts[a.mine.index] = make([]float64, q.count())
	}
	return e
}

// close announces that this worker makes no more requests.
func (a *Active) close() protocol.Effects {
	a.mine.finished = true
	return a.endIfFinished(protocol.Effects{Sync: true, Send: a.toOthers(a.mine, roundFinish, nil)})
}

// request asks all other workers for phases.
func (a *Active) request(q Request) protocol.Effects {
	l := a.mine
	if err := a.check(q); err != nil {
		return finish(fmt.Errorf("fdskl: the schedule makes an invalid request: %w", err))
	}
	q.Rows = slices.Clone(q.Rows)
	l.marks.set(q)
	l.counter++
	signed := witness{hash: q.hash(a.setup.Session.ID(), a.sequence(l, l.counter), l.trees)}
	copy(signed.signature[:], a.identity.Sign(signed.hash[:]))
	l.task = a.newTask(l, q, signed)
	body := signedRequest{q, signed.signature}.encode()
	return protocol.Effects{Sync: true, Send: a.toOthers(l, roundRequest, body), Progress: l.task.progress()}
}

func (a *Active) check(q Request) error {
	if most := maxSpans(len(a.names)); len(q.Rows) > most {
		return fmt.Errorf("fdskl: %d spans of rows, at most %d fit a request; ask for some rows after the others", len(q.Rows), most)
	}
	return a.mine.marks.check(q, a.mine.owned, a.most())
}

// use passes the next chunk's phases to the schedule: the sum of all words minus, in mode paper,
// the sum of all masks.
func (a *Active) use() protocol.Effects {
	t, r := a.mine.task, a.params.ring()
	chunk := t.upstream[0].next
	words := a.words(t, chunk)
	if a.params.spec.Mode == Hardened {
		r.apply(t.masks, chunk, words)
	}
	r.add(words, t.upstream[0].release())
	if len(t.upstream) > 1 {
		r.sub(words, t.upstream[1].release())
	}
	a.schedule.Answer(t.request.rows(t.layout.span(chunk)), words)
	e := protocol.Effects{Progress: t.progress()}
	for tree := range t.upstream {
		e.Send = append(e.Send, a.grantRoom(a.mine, tree)...)
	}
	return e
}

// awaits returns what the worker waits for: also a part of f or a turn.
func (a *Active) awaits() await {
	if w, some := a.awaitsPeer(); some {
		return w
	}
	names, n := a.leaders(), len(a.queues)
	for i := range names {
		if a.turns.iterating > 0 && i != a.mine.index && a.turns.parts[i] == nil {
			return await{TimerRequest, names[i], "a part of f"}
		}
	}
	if !a.allDone() && !a.params.spec.Asynchronous {
		return await{TimerRequest, names[(a.mine.index+n-1)%n], "the turn"}
	}
	return a.awaitsOthers()
}
