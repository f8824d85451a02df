package fdskl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// Schedule decides which phases an active worker requests. A request can depend on the phases that
// answered the requests before it and, among several active workers, on what a [Partner] has received
// from the others. It depends on nothing else that changes, so that a replay makes the same requests.
type Schedule interface {
	// Next returns the next request, or false if the schedule needs no more phases. It is called
	// after the last request is answered, in a separate step.
	Next() (Request, bool)
	// Answer receives the phases of some consecutive rows of the last request. words holds the sums
	// of all workers' words, little-endian, row after row, with a word for each direction. Answer
	// must not keep words after it returns.
	Answer(rows []int, words []byte)
}

// Active is a worker that has labels. It requests phases and learns from them.
type Active struct {
	worker
	schedule Schedule
	mine     *requests // this worker's own requests, an element of queues
	turns    turns
}

// NewActive returns the machine of an active worker. Each machine needs a schedule of its own. In a
// session with several active workers, the schedule must be a [Partner].
func NewActive(s protocol.Setup, in Input, id Identity, schedule Schedule) (*Active, error) {
	return newActive(s, in, id, schedule, protocol.MaxChunkBytes)
}

func newActive(s protocol.Setup, in Input, id Identity, schedule Schedule, chunk int) (*Active, error) {
	w, err := newWorker(s, in, id, protocol.RoleLeader, chunk)
	if err != nil {
		return nil, err
	}
	switch {
	case id.Sign == nil:
		return nil, errors.New("fdskl: the active worker has no signing function; set Identity.Sign")
	case schedule == nil:
		return nil, errors.New("fdskl: the active worker's schedule is nil; give a schedule")
	}
	if _, ok := schedule.(Partner); len(w.queues) > 1 && !ok {
		return nil, errors.New("fdskl: the schedule is not a Partner, but several active workers must exchange parts of the model; implement Partner")
	}
	a := &Active{worker: w, schedule: schedule}
	a.mine = &a.queues[slices.Index(a.leaders(), s.Self)]
	a.turns.done = make([]retirement, len(a.queues))
	a.turns.mayIterate = a.mine.index == 0 || w.params.spec.Asynchronous
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
	e, err := a.processMessage(m)
	if l, _ := a.requestsOf(m); err == nil && m.Round == roundRequest {
		a.recordOwed(l, m.Sequence)
	}
	return e, err
}

// ready reports whether resume has work to do.
func (a *Active) ready() bool {
	return a.canSend() || a.complete() || a.nextAction() != nil
}

// nextAction returns the worker's next action after its last request is answered, or nil if the
// worker must wait or has finished.
func (a *Active) nextAction() func() protocol.Effects {
	t := &a.turns
	switch {
	case !a.met() || a.mine.finished || !a.mine.idle():
		return nil
	case t.iterating > 0 && a.gathered():
		return a.conclude
	case len(t.owed) > 0:
		return a.sendOwed
	case t.iterating > 0:
		return nil
	case a.allDone():
		return a.finishRequests
	case t.mayIterate && t.retired(a.mine.index) && !a.params.spec.Asynchronous:
		return a.passTurn
	case t.mayIterate && !t.retired(a.mine.index):
		return a.iterate
	}
	return nil
}

// complete reports whether every tree has delivered the next chunk of this worker's own request.
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
	case a.canSend():
		return a.sendNext()
	case a.complete():
		return a.passChunk()
	}
	return a.nextAction()()
}

// iterate sends the schedule's next request. If the schedule needs no more phases, the worker
// retires.
func (a *Active) iterate() protocol.Effects {
	q, more := a.schedule.Next()
	switch {
	case !more && a.alone():
		a.signRetirement()
		return a.finishRequests()
	case !more:
		return a.retire()
	}
	q.shares = !a.alone()
	e := a.sendRequest(q)
	if q.shares {
		a.turns.iterating, a.turns.parts = a.mine.counter, make([][]float64, len(a.queues))
		a.turns.parts[a.mine.index] = make([]float64, q.rowCount())
	}
	return e
}

// finishRequests announces to all workers that this worker makes no more requests.
func (a *Active) finishRequests() protocol.Effects {
	a.mine.finished = true
	return a.endIfFinished(protocol.Effects{Sync: true, Send: a.toOthers(a.mine, roundFinish, nil)})
}

// sendRequest sends a signed request for phases to all other workers.
func (a *Active) sendRequest(q Request) protocol.Effects {
	l := a.mine
	if err := a.check(q); err != nil {
		return finish(fmt.Errorf("fdskl: the schedule's request is not valid: %w", err))
	}
	q.Rows = slices.Clone(q.Rows)
	l.marks.markAnswered(q)
	l.counter++
	signed := witness{hash: q.hash(a.setup.Session.ID(), a.sequence(l, l.counter), l.trees)}
	copy(signed.signature[:], a.identity.Sign(signed.hash[:]))
	l.task = a.newTask(l, q, signed)
	body := signedRequest{q, signed.signature}.encode()
	return protocol.Effects{Sync: true, Send: a.toOthers(l, roundRequest, body), Progress: l.task.progress()}
}

func (a *Active) check(q Request) error {
	if most := maxSpans(len(a.names)); len(q.Rows) > most {
		return fmt.Errorf("fdskl: the request has %d spans of rows; at most %d fit in a message; split it into several requests", len(q.Rows), most)
	}
	return a.mine.marks.check(q, a.mine.owned, a.maxDirections())
}

// passChunk passes the next chunk's phases to the schedule. They are the sum of all workers' words;
// in mode paper, the sum of all masks is subtracted.
func (a *Active) passChunk() protocol.Effects {
	t, r := a.mine.task, a.params.ring()
	chunk := t.upstream[0].next
	words := a.ownWords(t, chunk)
	if a.params.spec.Mode == Hardened {
		r.apply(t.masks, chunk, words)
	}
	r.add(words, t.upstream[0].takeNext())
	if len(t.upstream) > 1 {
		r.sub(words, t.upstream[1].takeNext())
	}
	a.schedule.Answer(t.request.rows(t.layout.span(chunk)), words)
	e := protocol.Effects{Progress: t.progress()}
	for tree := range t.upstream {
		e.Send = append(e.Send, a.grantRoom(a.mine, tree)...)
	}
	return e
}

// awaits returns the message that the active worker waits for. It can also be a part of the model
// function f, or the turn.
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
