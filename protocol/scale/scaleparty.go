package scale

import (
	"fmt"
	"math"

	"github.com/mercer-fl/mercer/protocol"
)

// Party is the machine of a member that sends its statistics and receives the scaling.
type Party struct {
	machine
	sent    int    // number of chunks of statistics sent so far
	got     []bool // whether each chunk of the scaling has arrived
	missing int
	result  Scaling
}

// NewParty returns the machine of a party with the given statistics. They must be computed by
// the session's method.
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

// Result returns the scaling. It requires that the machine has ended without an error.
func (p *Party) Result() Scaling { return p.result }

// Step implements protocol.Machine.
func (p *Party) Step(e protocol.Event) (protocol.Effects, error) {
	return p.life.Step(p.setup, e, protocol.Handlers{Start: p.start, Receive: p.takeCombined, Resume: p.resume, Expire: p.expire})
}

func (p *Party) start(e protocol.Start) (protocol.Effects, error) {
	if err := p.checkStart(e); err != nil {
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
	return protocol.Finish(protocol.Effects{}, protocol.Blame(p.leader, protocol.KindSilent, fmt.Errorf("scale: the complete scaling from %s did not arrive in time", p.leader)))
}

// sendCombined sends as many chunks of the scaling as one step may send. Each chunk goes to all
// parties, and the session ends after the last one.
func (l *Leader) sendCombined() protocol.Effects {
	var eff protocol.Effects
	n := len(l.others) * len(l.blocks)
	for range min(l.layout.batch, n-l.sent) {
		at, to := l.sent/len(l.others), l.others[l.sent%len(l.others)]
		body := l.layout.encode(0, columns{l.result.Offset, l.result.Factor}.span(l.layout.span(at)))
		eff.Send = append(eff.Send, l.message(to, roundCombined, kindCombined, at, body))
		l.sent++
	}
	eff.Progress = protocol.Progress{Stage: "combined", Done: int64(l.sent), Total: int64(n)}
	if eff.Resume = l.sent < n; !eff.Resume {
		eff.End = &protocol.End{}
	}
	return eff
}

// takeCombined stores a chunk of the scaling.
func (p *Party) takeCombined(m protocol.Message) (protocol.Effects, error) {
	if err := p.expect(m.Header, roundCombined, kindCombined, protocol.RoleLeader); err != nil {
		return protocol.Effects{}, err
	}
	c, err := decode(m, p.sizing)
	if err == nil && c.rows != 0 {
		err = fmt.Errorf("the number of rows in a scaling must be 0; it is %d", c.rows)
	}
	if err == nil {
		err = checkScaling(c.columns)
	}
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if err := p.acceptable(m.Header, c); err != nil {
		return protocol.Effects{}, err
	}
	return p.keep(int(m.Chunk), c), nil
}

// checkScaling returns an error for offsets and factors that no honest leader computes.
func checkScaling(c columns) error {
	for j, offset := range c.first {
		factor := c.second[j]
		if !(math.Abs(offset) <= 4*limit && factor >= 0 && factor <= math.MaxFloat64) {
			return fmt.Errorf("offset %v and factor %v are out of range", offset, factor)
		}
	}
	return nil
}

// acceptable returns an error if a chunk of the scaling is for another number of columns, is
// repeated or too early, or contradicts the party's rows.
func (p *Party) acceptable(h protocol.Header, c chunk) error {
	lo, _ := c.layout.span(int(h.Chunk))
	switch {
	case c.layout.columns != p.layout.columns:
		return h.Inconsistent("the scaling has %d columns, but %s has %d", c.layout.columns, p.setup.Self, p.layout.columns)
	case p.sent < p.layout.chunks() || p.got[h.Chunk]:
		return protocol.Blame(h.Sender, protocol.KindUnexpected, fmt.Errorf("scale: %v: the chunk is repeated or too early", h))
	case !p.own.fits(lo, c.columns):
		return h.Inconsistent("the rows of %s do not fit the scaling", p.setup.Self)
	}
	return nil
}

func (p *Party) keep(at int, c chunk) protocol.Effects {
	if p.result.Offset == nil {
		p.result = Scaling{Offset: make([]float64, p.layout.columns), Factor: make([]float64, p.layout.columns)}
	}
	lo, hi := p.layout.span(at)
	copy(p.result.Offset[lo:hi], c.first)
	copy(p.result.Factor[lo:hi], c.second)
	p.got[at] = true
	p.missing--
	eff := protocol.Effects{Progress: protocol.Progress{Stage: "combined", Done: int64(len(p.got) - p.missing), Total: int64(len(p.got))}}
	if p.missing == 0 {
		eff.End = &protocol.End{}
	}
	return eff
}
