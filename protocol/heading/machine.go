package heading

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// The rounds, their messages and their timers.
const (
	roundHeading uint16 = 1
	roundMatch   uint16 = 2
	roundVerdict uint16 = 3
	kindHeading         = "Heading"
	kindMatch           = "Match"
	kindVerdict         = "Verdict"

	// TimerMatch bounds the leader's wait for the next answer.
	TimerMatch protocol.Timer = "heading/match"
	// TimerHeading bounds a party's wait for the next message of the leader.
	TimerHeading protocol.Timer = "heading/heading"
)

// machine is the part that leader and party have in common.
type machine struct {
	setup  protocol.Setup
	life   protocol.Life
	leader string
	own    Table
	size   sizing
}

func newMachine(setup protocol.Setup, own Table, role protocol.Role, size sizing) (machine, error) {
	if err := setup.Check(Name, Version, role); err != nil {
		return machine{}, err
	}
	if err := ValidateSession(setup.Session); err != nil {
		return machine{}, err
	}
	if err := own.validate(); err != nil {
		return machine{}, err
	}
	return machine{setup: setup, leader: setup.Session.With(protocol.RoleLeader)[0], own: own, size: size}, nil
}

// ValidateSession refuses a session that this protocol cannot run: it takes one
// leader, at least one party, nobody else, and no parameters.
func ValidateSession(s *protocol.Session) error {
	leaders, parties := len(s.With(protocol.RoleLeader)), len(s.With(protocol.RoleParty))
	switch {
	case leaders != 1 || parties == 0 || leaders+parties != len(s.Members):
		return fmt.Errorf("heading: a session needs one leader, at least one party and nobody else; this one has %d, %d and %d", leaders, parties, len(s.Members)-leaders-parties)
	case len(s.Params) > 0:
		return fmt.Errorf("heading: %d bytes of parameters; there are none", len(s.Params))
	}
	return nil
}

// InputHash returns the hash that the start event must hold.
func (m *machine) InputHash() [sha256.Size]byte { return m.own.Hash() }

// same refuses to start over a table that has changed.
func (m *machine) same(e protocol.Start) error {
	if e.InputHash != m.InputHash() {
		return errors.New("heading: the names differ from those the session was started with; restore them or start a new job")
	}
	return nil
}
