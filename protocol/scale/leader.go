package scale

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// Leader is the party that combines the statistics of all, its own included.
type Leader struct {
	machine
	members []string // all that hold rows, in the order in which they are added
	others  []string // members without the leader
	rows    []int    // of each member, 0 until known
	blocks  []block  // one for each chunk number
	merged  int      // blocks that are merged, counted from the front
	total   Statistics
	sent    int // messages of the scaling
	result  Scaling
}

// block collects one chunk from every member.
type block struct {
	parts   []*columns // of each member; all nil once merged
	missing int
}

// aheadBlocks is how many blocks a member may be ahead of the slowest. It
// bounds what the leader holds: that many blocks of at most 256 KiB for each party.
const aheadBlocks = 4

// NewLeader returns the machine of the leader with the statistics of its own
// rows, which must be of the session's method.
func NewLeader(setup protocol.Setup, own Statistics) (*Leader, error) {
	return newLeader(setup, own, bulk())
}

func newLeader(setup protocol.Setup, own Statistics, size sizing) (*Leader, error) {
	m, err := newMachine(setup, own, protocol.RoleLeader, size)
	if err != nil {
		return nil, err
	}
	l := &Leader{
		machine: m, members: m.session.With(protocol.RoleLeader, protocol.RoleParty), others: m.session.With(protocol.RoleParty),
		total: Statistics{Method: own.Method, First: make([]float64, m.layout.columns), Second: make([]float64, m.layout.columns)},
	}
	l.rows = make([]int, len(l.members))
	l.rows[slices.Index(l.members, l.self)] = own.Rows
	l.blocks = make([]block, m.layout.chunks())
	for i := range l.blocks {
		l.blocks[i].missing = len(l.others)
	}
	return l, nil
}

// Result returns the scaling, once the machine has ended without an error.
func (l *Leader) Result() Scaling { return l.result }

// Step implements protocol.Machine.
func (l *Leader) Step(e protocol.Event) (protocol.Effects, error) {
	if err := l.admit(e); err != nil {
		return protocol.Effects{}, err
	}
	eff, err := l.step(e)
	l.ended = err == nil && eff.End != nil
	return eff, err
}

func (l *Leader) step(e protocol.Event) (protocol.Effects, error) {
	switch e := e.(type) {
	case protocol.Start:
		l.started = true
		return protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerStatistics}}, nil
	case protocol.Received:
		return l.takeStatistics(e.Message)
	case protocol.Resumed:
		if !l.complete() {
			return protocol.Effects{}, errResume
		}
		return l.sendCombined(), nil
	case protocol.Expired:
		return l.expired(e.Timer), nil
	}
	return protocol.Effects{}, fmt.Errorf("scale: unknown event %T", e)
}

// complete reports whether all statistics are in.
func (l *Leader) complete() bool { return l.merged == len(l.blocks) }
