package heading

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// Party is a member that puts its columns into the leader's order.
type Party struct {
	machine
	key      [keyBytes]byte
	layout   layout // the leader's; zero before its first message
	theirs   digests
	got      []bool // chunks of the heading
	missing  int
	order    []int
	mismatch *Mismatch // nil while nothing is wrong here
}

// NewParty returns the machine of a party with its own table.
func NewParty(setup protocol.Setup, own Table) (*Party, error) {
	return newParty(setup, own, bulk())
}

func newParty(setup protocol.Setup, own Table, size sizing) (*Party, error) {
	m, err := newMachine(setup, own, protocol.RoleParty, size)
	if err != nil {
		return nil, err
	}
	return &Party{machine: m}, nil
}

// Order returns, for each place in the leader's table, where that column stands in
// this one, once the machine has ended without an error.
func (p *Party) Order() []int { return p.order }

// Key returns a key that the parties share and the server does not know, once the machine has ended
// without an error.
func (p *Party) Key() [keyBytes]byte { return p.key }

// Own returns the fault of this table's columns, in the table's own words, however the
// session ended; nil while nothing is wrong. It is for the party's own log.
func (p *Party) Own() error {
	if p.mismatch == nil {
		return nil
	}
	return p.mismatch
}

// Step implements [protocol.Machine].
func (p *Party) Step(e protocol.Event) (protocol.Effects, error) {
	return p.life.Step(p.setup, e, protocol.Handlers{Start: p.start, Receive: p.receive, Expire: p.expire})
}

func (p *Party) start(e protocol.Start) (protocol.Effects, error) {
	return protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerHeading}}, p.same(e)
}

func (p *Party) receive(m protocol.Message) (protocol.Effects, error) {
	switch {
	case m.Sender != p.leader || m.Sequence != 0:
		return protocol.Effects{}, m.Unexpected()
	case m.Round == roundHeading && m.Kind == kindHeading:
		return p.takeHeading(m)
	case m.Round == roundVerdict && m.Kind == kindVerdict && m.Chunks == 1:
		return p.takeVerdict(m)
	}
	return protocol.Effects{}, m.Unexpected()
}

func (p *Party) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerHeading {
		return protocol.Effects{}, nil
	}
	return protocol.Finish(protocol.Effects{}, protocol.Blame(p.leader, protocol.KindSilent, fmt.Errorf("heading: nothing came from %s in time", p.leader)))
}

// errResume answers a Resumed that nobody asked for.
var errResume = errors.New("heading: there is nothing to resume")
