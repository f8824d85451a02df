package fdskl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// Schedule is what an active worker wants to know and when: the request that
// comes next may depend on what was learned from the last. It depends on its own
// past and on nothing else, so that a replay asks for the same.
type Schedule interface {
	// Next returns the next request, or false when nothing more is needed. It is
	// called once the last request is answered, in a step of its own.
	Next() (Request, bool)
	// Answer takes the phases of some rows of the last request, which follow each
	// other: the sums of all workers' words, little-endian, row after row, a word
	// for each direction. The words are the machine's again afterwards.
	Answer(rows []int, words []byte)
}

// Active is a worker who has labels, asks for phases, and learns them.
type Active struct {
	worker
	schedule Schedule
	mine     *lane // of lanes
}

// NewActive returns the machine of an active worker. A schedule serves one
// machine.
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
	mine := slices.Index(s.Session.With(protocol.RoleLeader), s.Self)
	return &Active{worker: w, schedule: schedule, mine: &w.lanes[mine]}, nil
}

// Step implements [protocol.Machine].
func (a *Active) Step(e protocol.Event) (protocol.Effects, error) { return a.step(a, e) }

func (a *Active) receive(m protocol.Message) (protocol.Effects, error) { return a.answer(m) }

// ready says whether there is a chunk to pass on, a chunk to use, or a request to
// make.
func (a *Active) ready() bool {
	return a.sends() || a.asks() || a.complete()
}

// asks says whether the next request can be made.
func (a *Active) asks() bool {
	return a.started && a.met() && !a.mine.finished && a.mine.idle()
}

// complete says whether the next chunk is there, in every tree.
func (a *Active) complete() bool {
	t := a.mine.task
	if t == nil || t.answered() {
		return false
	}
	for i := range t.passes {
		if !t.passes[i].ready() {
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
	return a.ask()
}

// ask makes the next request to all others, or says that there is none.
func (a *Active) ask() protocol.Effects {
	l := a.mine
	q, more := a.schedule.Next()
	if !more {
		l.finished = true
		return a.endIfFinished(protocol.Effects{Sync: true, Send: a.toOthers(l, roundFinish, nil)})
	}
	if err := a.check(q); err != nil {
		return finish(fmt.Errorf("fdskl: the schedule asks for what cannot be: %w", err))
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

// use hands the next chunk's phases to the schedule: the sum of all words, less
// in mode paper that of all masks.
func (a *Active) use() protocol.Effects {
	t, r := a.mine.task, a.params.ring()
	chunk := t.passes[0].next
	words := a.words(t, chunk)
	if a.params.spec.Mode == Hardened {
		r.apply(t.masks, chunk, words)
	}
	r.add(words, t.passes[0].release())
	if len(t.passes) > 1 {
		r.sub(words, t.passes[1].release())
	}
	a.schedule.Answer(t.request.rows(t.layout.span(chunk)), words)
	e := protocol.Effects{Progress: t.progress()}
	for tree := range t.passes {
		e.Send = append(e.Send, a.grantRoom(a.mine, tree)...)
	}
	return e
}

func (a *Active) awaits() await { return a.awaitsOthers() }
