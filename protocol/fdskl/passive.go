package fdskl

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// Passive is a worker who holds columns and no labels. It answers requests for
// phases and learns nothing but which rows are used when.
type Passive struct {
	worker
	witnessed bool // by the passive worker before this one, for the last request
}

// NewPassive returns the machine of a passive worker.
func NewPassive(s protocol.Setup, in Input, id Identity) (*Passive, error) {
	return newPassive(s, in, id, protocol.MaxChunkBytes)
}

func newPassive(s protocol.Setup, in Input, id Identity, chunk int) (*Passive, error) {
	w, err := newWorker(s, in, id, protocol.RoleParty, chunk)
	if err != nil {
		return nil, err
	}
	return &Passive{worker: w, witnessed: true}, nil
}

// Step implements [protocol.Machine].
func (p *Passive) Step(e protocol.Event) (protocol.Effects, error) { return p.step(p, e) }

func (p *Passive) receive(m protocol.Message) (protocol.Effects, error) {
	switch {
	case m.Kind == kindRoom:
		return p.receiveRoom(m)
	case m.Round == roundKeys:
		return p.receiveKey(m)
	case m.Round == roundRequest:
		return p.receiveRequest(m)
	case m.Round == roundWitness:
		return p.receiveWitness(m)
	case m.Round == roundFinish:
		return p.receiveFinish(m)
	case m.Sequence == p.counter+1 && p.sendsWords(m):
		return protocol.Effects{}, protocol.ErrLater // the child was asked first
	}
	return p.receiveWords(m)
}

// sendsWords says whether m's sender is a child in the round's tree.
func (p *Passive) sendsWords(m protocol.Message) bool {
	tree, _ := p.climbs(m.Round)
	return p.trees[tree][p.index(m.Sender)] == p.self
}

// idle says whether nothing of the last request is left to do.
func (p *Passive) idle() bool { return p.task == nil || p.task.answered() }

// Round 2, Request: the active worker asks all others at once for a block of
// phases (line 3 of Algorithm 1). It signs what it asks for.
func (p *Passive) receiveRequest(m protocol.Message) (protocol.Effects, error) {
	switch {
	case m.Sender != p.names[0] || m.Sequence != p.counter+1 || !p.idle():
		return protocol.Effects{}, stray(m)
	case !p.met() || !p.witnessed:
		return protocol.Effects{}, protocol.ErrLater
	}
	s, err := decodeRequest(m.Body, len(p.names))
	if err != nil {
		return protocol.Effects{}, malformed(m, "%w", err)
	}
	if err := p.marks.check(s.request, p.params, p.most()); err != nil {
		return protocol.Effects{}, inconsistent(m, err)
	}
	signed := witness{s.request.hash(p.setup.Session.ID(), m.Sequence, p.trees), s.signature}
	if !ed25519.Verify(p.identity.Key, signed.hash[:], signed.signature[:]) {
		return protocol.Effects{}, inconsistent(m, errors.New("a request that the active worker has not signed"))
	}
	p.marks.set(s.request)
	p.counter, p.witnessed = m.Sequence, p.self == 1
	p.task = p.newTask(s.request, signed)
	e := protocol.Effects{Sync: true}
	if next := p.self + 1; next < len(p.names) {
		e.Send = []protocol.Message{p.message(next, roundWitness, p.counter, signed.encode())}
	}
	return e, nil
}

// most is how many directions can be asked for at once.
func (w *worker) most() int { return w.chunk / w.params.ring().bytes() }

// Round 3, Witness: each passive worker shows the next what it was asked for.
// Who was asked for something else holds two requests of one counter with the
// active worker's signature. The phases are safe without it, since their masks
// do not cancel then; this tells who spoiled them.
func (p *Passive) receiveWitness(m protocol.Message) (protocol.Effects, error) {
	switch {
	case p.self == 1 || p.index(m.Sender) != p.self-1:
		return protocol.Effects{}, stray(m)
	case m.Sequence == p.counter+1:
		return protocol.Effects{}, protocol.ErrLater
	case m.Sequence != p.counter || p.witnessed:
		return protocol.Effects{}, stray(m)
	}
	v, err := decodeWitness(m.Body)
	if err != nil {
		return protocol.Effects{}, malformed(m, "%w", err)
	}
	if !ed25519.Verify(p.identity.Key, v.hash[:], v.signature[:]) {
		return protocol.Effects{}, inconsistent(m, errors.New("a request that the active worker has not signed"))
	}
	p.witnessed = true
	if v.hash != p.task.signed.hash {
		return finish(protocol.Blame(p.names[0], protocol.KindEquivocation,
			fmt.Errorf("fdskl: request %d to %s and that to %s differ, and %s has signed both", p.counter, p.setup.Self, m.Sender, p.names[0]))), nil
	}
	return protocol.Effects{}, nil
}

// Round 6, Finish: the active worker needs nothing more.
func (p *Passive) receiveFinish(m protocol.Message) (protocol.Effects, error) {
	switch {
	case m.Sender != p.names[0] || m.Sequence != p.counter || !p.idle():
		return protocol.Effects{}, stray(m)
	case !p.met() || !p.witnessed:
		return protocol.Effects{}, protocol.ErrLater
	case len(m.Body) > 0:
		return protocol.Effects{}, malformed(m, "%d bytes where none belong", len(m.Body))
	}
	return finish(nil), nil
}

func (p *Passive) ready() bool {
	_, some := p.readyTree()
	return some
}

// readyTree is the first tree in which a chunk can go up.
func (p *Passive) readyTree() (int, bool) {
	for i := 0; p.task != nil && i < len(p.task.passes); i++ {
		if p.task.passes[i].ready() {
			return i, true
		}
	}
	return 0, false
}

func (p *Passive) resume() (protocol.Effects, error) {
	tree, _ := p.readyTree()
	up := p.send(tree)
	return protocol.Effects{Send: append([]protocol.Message{up}, p.grantRoom(tree)...), Progress: p.progress()}, nil
}

func (p *Passive) awaits() await {
	switch a, some := p.awaitsPeer(); {
	case some:
		return a
	case !p.witnessed:
		return await{TimerPhases, p.self - 1, "a witness"}
	}
	return await{TimerRequest, 0, "the next request"}
}
