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
	if err := p.admit(e); err != nil {
		return protocol.Effects{}, err
	}
	eff, err := p.step(e)
	p.ended = err == nil && eff.End != nil
	return eff, err
}

func (p *Party) step(e protocol.Event) (protocol.Effects, error) {
	switch e := e.(type) {
	case protocol.Start:
		p.started = true
		eff := p.sendStatistics()
		eff.Sync, eff.Arm = true, []protocol.Timer{TimerCombined}
		return eff, nil
	case protocol.Received:
		return p.takeCombined(e.Message)
	case protocol.Resumed:
		if p.sent == p.layout.chunks() {
			return protocol.Effects{}, errResume
		}
		return p.sendStatistics(), nil
	case protocol.Expired:
		if e.Timer != TimerCombined {
			return protocol.Effects{}, nil
		}
		return silent(p.leader, fmt.Errorf("scale: no complete scaling from %s in time", p.leader)), nil
	}
	return protocol.Effects{}, fmt.Errorf("scale: unknown event %T", e)
}
