package scale

import (
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// Party is a member that sends statistics and gets the scaling.
type Party struct {
	machine
	sent    int    // chunks of statistics
	got     []bool // chunks of the scaling
	missing int
	result  Scaling
}

// NewParty returns the machine of a party with the given statistics, which
// must be of the session's method.
func NewParty(setup protocol.Setup, own Statistics) (*Party, error) {
	return newParty(setup, own, bulk())
}

func newParty(setup protocol.Setup, own Statistics, size sizing) (*Party, error) {
	m, err := newMachine(setup, own, protocol.RoleParty, size)
	if err != nil {
		return nil, err
	}
	n := m.layout.chunks()
	return &Party{machine: m, got: make([]bool, n), missing: n}, nil
}

// Result returns the scaling, once the machine has ended without an error.
func (p *Party) Result() Scaling { return p.result }

// Step implements protocol.Machine.
func (p *Party) Step(e protocol.Event) (protocol.Effects, error) {
	return p.life.Step(p.setup, e, protocol.Handlers{Start: p.start, Receive: p.takeCombined, Resume: p.resume, Expire: p.expire})
}

func (p *Party) start(e protocol.Start) (protocol.Effects, error) {
	if err := p.same(e); err != nil {
		return protocol.Effects{}, err
	}
	eff := p.sendStatistics()
	eff.Sync, eff.Arm = true, []protocol.Timer{TimerCombined}
	return eff, nil
}

func (p *Party) resume() (protocol.Effects, error) {
	if p.sent == p.layout.chunks() {
		return protocol.Effects{}, errResume
	}
	return p.sendStatistics(), nil
}

func (p *Party) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerCombined {
		return protocol.Effects{}, nil
	}
	return protocol.Finish(protocol.Effects{}, protocol.Blame(p.leader, protocol.KindSilent, fmt.Errorf("scale: no complete scaling from %s in time", p.leader)))
}
