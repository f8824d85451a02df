package scale

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// The rounds, their messages and their timers.
const (
	roundStatistics = 1
	roundCombined   = 2
	kindStatistics  = "Statistics"
	kindCombined    = "Combined"

	// TimerStatistics bounds the leader's wait for all statistics.
	TimerStatistics protocol.Timer = "scale/statistics"
	// TimerCombined bounds a party's wait for the scaling.
	TimerCombined protocol.Timer = "scale/combined"
)

// machine is the part that leader and party have in common.
type machine struct {
	setup  protocol.Setup
	life   protocol.Life
	leader string
	own    Statistics
	layout layout
	sizing sizing
}

func newMachine(setup protocol.Setup, own Statistics, role protocol.Role, size sizing) (machine, error) {
	params, err := ValidateSession(setup.Session)
	if err != nil {
		return machine{}, err
	}
	if err := setup.Check(Name, Version, role); err != nil {
		return machine{}, err
	}
	if err := own.validate(); err != nil {
		return machine{}, err
	}
	if own.Method != params.spec.Method {
		return machine{}, fmt.Errorf("scale: %s statistics in a session of %s; summarise again", own.Method, params.spec.Method)
	}
	return machine{
		setup: setup, leader: setup.Session.With(protocol.RoleLeader)[0],
		own: own, layout: newLayout(len(own.First), size), sizing: size,
	}, nil
}

// InputHash returns the hash that the start event must hold.
func (m *machine) InputHash() [sha256.Size]byte { return m.own.Hash() }

// same refuses to start over rows that have changed.
func (m *machine) same(e protocol.Start) error {
	if e.InputHash != m.InputHash() {
		return errors.New("scale: the rows differ from those the session was started with; restore them or start a new job")
	}
	return nil
}

// expect refuses a message that this role does not get in the given round.
func (m *machine) expect(h protocol.Header, round uint16, kind string, sender protocol.Role) error {
	if h.Round != round || h.Kind != kind || h.Sequence != 0 || m.setup.Session.RoleOf(h.Sender) != sender {
		return protocol.Blame(h.Sender, protocol.KindUnexpected, fmt.Errorf("scale: %v: only %s of a %s are expected here", h, kind, sender))
	}
	return nil
}

// message returns chunk i of what goes to another member.
func (m *machine) message(to string, round uint16, kind string, i int, body []byte) protocol.Message {
	return m.setup.Message(to, round, kind, body).Piece(i, m.layout.chunks())
}

// errResume answers a Resumed that nobody asked for.
var errResume = errors.New("scale: there is nothing to resume")

// WidthError says that two parties hold tables of different widths, which is a
// mistake in somebody's data and not misbehaviour. It matches
// [protocol.ErrInput].
type WidthError struct {
	Party         string
	Columns       int
	Leader        string
	LeaderColumns int
}

func (e *WidthError) Error() string {
	return fmt.Sprintf("scale: %s has %d columns, %s (the leader) %d; give every party the same columns", e.Party, e.Columns, e.Leader, e.LeaderColumns)
}

// Public returns the error without the widths, which the server is not told.
func (e *WidthError) Public() string {
	return fmt.Sprintf("scale: %s and %s (the leader) have different numbers of columns, which the leader's log tells; give every party the same columns", e.Party, e.Leader)
}

// Is says that the parties' data do not go together.
func (e *WidthError) Is(target error) bool { return target == protocol.ErrInput }
