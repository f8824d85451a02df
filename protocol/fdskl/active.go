package fdskl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// Schedule is what the active worker wants to know and when: the request that
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

// Active is the worker who has the labels, asks for phases, and learns them.
type Active struct {
	worker
	schedule Schedule
}

// NewActive returns the machine of the active worker. A schedule serves one
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
		return nil, errors.New("fdskl: the active worker has something to sign with and a schedule of requests")
	}
	return &Active{worker: w, schedule: schedule}, nil
}

// Step implements [protocol.Machine].
func (a *Active) Step(e protocol.Event) (protocol.Effects, error) { return a.step(a, e) }

func (a *Active) receive(m protocol.Message) (protocol.Effects, error) {
	switch {
	case m.Kind == kindRoom:
		return protocol.Effects{}, stray(m) // nobody is above the root
	case m.Round == roundKeys:
		return a.receiveKey(m)
	case m.Round == roundPhases || m.Round == roundMasks:
		return a.receiveWords(m)
	}
	return protocol.Effects{}, stray(m)
}

// ready says whether there is a request to make or a chunk to use.
func (a *Active) ready() bool {
	if !a.started || !a.met() {
		return false
	}
	return a.task == nil || a.task.answered() || a.complete()
}

// complete says whether the next chunk is there, in every tree.
func (a *Active) complete() bool {
	for i := range a.task.passes {
		if !a.task.passes[i].ready() {
			return false
		}
	}
	return true
}

func (a *Active) resume() (protocol.Effects, error) {
	if a.task == nil || a.task.answered() {
		return a.ask(), nil
	}
	return a.use(), nil
}

// ask makes the next request to all others, or ends the session.
func (a *Active) ask() protocol.Effects {
	q, more := a.schedule.Next()
	if !more {
		e := finish(nil)
		e.Send = a.toOthers(roundFinish, nil)
		return e
	}
	if err := a.check(q); err != nil {
		return finish(fmt.Errorf("fdskl: the schedule asks for what cannot be: %w", err))
	}
	q.Rows = slices.Clone(q.Rows)
	a.marks.set(q)
	a.counter++
	signed := witness{hash: q.hash(a.setup.Session.ID(), a.counter, a.trees)}
	copy(signed.signature[:], a.identity.Sign(signed.hash[:]))
	a.task = a.newTask(q, signed)
	body := signedRequest{q, signed.signature}.encode()
	return protocol.Effects{Sync: true, Send: a.toOthers(roundRequest, body), Progress: a.progress()}
}

func (a *Active) check(q Request) error {
	if most := maxSpans(len(a.names)); len(q.Rows) > most {
		return fmt.Errorf("fdskl: %d spans of rows, at most %d fit a request; ask for some rows after the others", len(q.Rows), most)
	}
	return a.marks.check(q, a.params, a.most())
}

// use hands the next chunk's phases to the schedule: the sum of all words, less
// in mode paper that of all masks.
func (a *Active) use() protocol.Effects {
	t, r := a.task, a.params.ring()
	chunk := t.passes[0].next
	words := a.own(chunk)
	if a.params.spec.Mode == Hardened {
		r.apply(t.masks, chunk, words)
	}
	r.add(words, t.passes[0].release())
	if len(t.passes) > 1 {
		r.sub(words, t.passes[1].release())
	}
	a.schedule.Answer(t.request.rows(t.layout.span(chunk)), words)
	e := protocol.Effects{Progress: a.progress()}
	for tree := range t.passes {
		e.Send = append(e.Send, a.grantRoom(tree)...)
	}
	return e
}

func (a *Active) awaits() await {
	w, _ := a.awaitsPeer() // or there is something to resume
	return w
}
