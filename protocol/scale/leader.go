package scale

import (
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// Leader is the party that combines the statistics of all, its own included.
type Leader struct {
	machine
	members []string // all that hold rows, in the order in which they are added
	others  []string // members without the leader
	rows    []int    // of each member, unknownRows until it says
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

// unknownRows stands for the number of rows of a member that has said nothing yet.
const unknownRows = -1

// aheadBlocks bounds the blocks that a member may be ahead of the slowest. So it
// bounds the leader's memory: aheadBlocks blocks of at most 256 KiB for each party.
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
		machine: m, members: setup.Session.With(protocol.RoleLeader, protocol.RoleParty), others: setup.Session.With(protocol.RoleParty),
		total: Statistics{Method: own.Method, First: make([]float64, m.layout.columns), Second: make([]float64, m.layout.columns)},
	}
	l.rows = slices.Repeat([]int{unknownRows}, len(l.members))
	l.rows[slices.Index(l.members, setup.Self)] = own.Rows
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
	return l.life.Step(l.setup, e, protocol.Handlers{Start: l.start, Receive: l.takeStatistics, Resume: l.resume, Expire: l.expire})
}

func (l *Leader) start(e protocol.Start) (protocol.Effects, error) {
	return protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerStatistics}}, l.same(e)
}

func (l *Leader) resume() (protocol.Effects, error) {
	if !l.complete() {
		return protocol.Effects{}, errResume
	}
	return l.sendCombined(), nil
}

// complete reports whether all statistics are in.
func (l *Leader) complete() bool { return l.merged == len(l.blocks) }
