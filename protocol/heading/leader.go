package heading

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
)

// Leader is the party whose order all take over.
type Leader struct {
	machine
	others  []string // members without the leader
	key     [keyBytes]byte
	layout  layout
	digests digests
	sent    int // messages of the heading
	matches []*match
	missing int // answers
}

// NewLeader returns the machine of the leader with its own table.
func NewLeader(setup protocol.Setup, own Table) (*Leader, error) {
	return newLeader(setup, own, bulk())
}

func newLeader(setup protocol.Setup, own Table, size sizing) (*Leader, error) {
	m, err := newMachine(setup, own, protocol.RoleLeader, size)
	if err != nil {
		return nil, err
	}
	l := &Leader{
		machine: m, others: setup.Session.With(protocol.RoleParty), key: prg.Derive(setup.Seed, "heading/key"),
		layout: newLayout(own.Columns != nil, own.Width, size),
	}
	l.matches, l.missing = make([]*match, len(l.others)), len(l.others)
	d := newDigester(l.key)
	for _, name := range own.Columns {
		l.digests.exact = append(l.digests.exact, d.exact(name))
		l.digests.folded = append(l.digests.folded, d.folded(name))
	}
	return l, nil
}

// Order returns where each column stands in this table: in the leader's, in its
// own place.
func (l *Leader) Order() []int { return inPlace(l.own.Width) }

// Key returns a key that the parties share and the server does not know.
func (l *Leader) Key() [keyBytes]byte { return l.key }

// Own returns nil: the leader's session ends with the fault that the leader finds.
func (l *Leader) Own() error { return nil }

func inPlace(width int) []int {
	order := make([]int, width)
	for i := range order {
		order[i] = i
	}
	return order
}

// Step implements [protocol.Machine].
func (l *Leader) Step(e protocol.Event) (protocol.Effects, error) {
	return l.life.Step(l.setup, e, protocol.Handlers{Start: l.start, Receive: l.takeMatch, Resume: l.resume, Expire: l.expire})
}

func (l *Leader) start(e protocol.Start) (protocol.Effects, error) {
	if err := l.same(e); err != nil {
		return protocol.Effects{}, err
	}
	eff := l.sendHeading()
	eff.Sync, eff.Arm = true, []protocol.Timer{TimerMatch}
	return eff, nil
}

func (l *Leader) resume() (protocol.Effects, error) {
	if l.allSent() {
		return protocol.Effects{}, errResume
	}
	eff := l.sendHeading()
	eff.Arm = []protocol.Timer{TimerMatch}
	return eff, nil
}

// allSent reports whether all parties have been sent the heading.
func (l *Leader) allSent() bool { return l.sentTo(len(l.others) - 1) }

// sentTo reports whether one of the others has been sent it.
func (l *Leader) sentTo(party int) bool {
	return l.sent > (l.layout.chunks()-1)*len(l.others)+party
}

// place is a party's among the others.
func (l *Leader) place(party string) int { return slices.Index(l.others, party) }
