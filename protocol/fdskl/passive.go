package fdskl

import "github.com/mercer-fl/mercer/protocol"

// Passive is a worker who holds columns and no labels. It answers requests for
// phases and learns nothing but which rows are used when.
type Passive struct{ worker }

// NewPassive returns the machine of a passive worker.
func NewPassive(s protocol.Setup, in Input, id Identity) (*Passive, error) {
	return newPassive(s, in, id, protocol.MaxChunkBytes)
}

func newPassive(s protocol.Setup, in Input, id Identity, chunk int) (*Passive, error) {
	w, err := newWorker(s, in, id, protocol.RoleParty, chunk)
	if err != nil {
		return nil, err
	}
	return &Passive{w}, nil
}

// Step implements [protocol.Machine].
func (p *Passive) Step(e protocol.Event) (protocol.Effects, error) { return p.step(p, e) }

func (p *Passive) receive(m protocol.Message) (protocol.Effects, error) { return p.answer(m) }

func (p *Passive) ready() bool { return p.sends() }

func (p *Passive) resume() protocol.Effects { return p.sendNext() }

func (p *Passive) awaits() await { return p.awaitsOthers() }
