package declare

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version stand in the descriptor of every session; it has no
// parameters.
const (
	Name           = "declare"
	Version uint16 = 1
)

// MaxBytes bounds a statement.
const MaxBytes = 4 << 10

// maxMembers bounds the members that one step can tell.
const maxMembers = protocol.MaxStepBytes / MaxBytes

// TimerDeclare bounds a member's wait for the next statement.
const TimerDeclare protocol.Timer = "declare/declare"

const (
	roundDeclare uint16 = 1
	kindDeclare         = "Declare"
)

// Member is the machine of every role: a server states nothing.
type Member struct {
	setup      protocol.Setup
	life       protocol.Life
	own        []byte
	parties    []string // in the descriptor's order
	statements [][]byte // of the parties; nil until it has come
	missing    int
}

// NewParty returns the machine of a party with its statement, of 1 to MaxBytes
// bytes.
func NewParty(s protocol.Setup, statement []byte) (*Member, error) {
	if len(statement) < 1 || len(statement) > MaxBytes {
		return nil, fmt.Errorf("declare: a statement of %d bytes; it has 1 to %d", len(statement), MaxBytes)
	}
	return newMember(s, statement, protocol.RoleParty, protocol.RoleLeader)
}

// NewServer returns the machine of a server, which listens only.
func NewServer(s protocol.Setup) (*Member, error) {
	return newMember(s, nil, protocol.RoleServer)
}

func newMember(s protocol.Setup, statement []byte, roles ...protocol.Role) (*Member, error) {
	if err := s.Check(Name, Version, roles...); err != nil {
		return nil, err
	}
	d := s.Session
	m := &Member{setup: s, own: statement, parties: d.With(protocol.RoleParty, protocol.RoleLeader)}
	m.statements, m.missing = make([][]byte, len(m.parties)), len(m.parties)
	switch {
	case len(d.Params) > 0:
		return nil, fmt.Errorf("declare: %d bytes of parameters; there are none", len(d.Params))
	case len(m.parties) < 2 || len(d.Members) > maxMembers:
		return nil, fmt.Errorf("declare: %d parties among %d members; there are two parties at least, and at most %d members", len(m.parties), len(d.Members), maxMembers)
	}
	return m, nil
}

// InputHash returns the hash that the start event must hold.
func (m *Member) InputHash() [sha256.Size]byte { return sha256.Sum256(m.own) }

// Statements returns what the parties have stated, in the descriptor's order,
// once the session has ended well.
func (m *Member) Statements() [][]byte { return m.statements }

// Step implements [protocol.Machine].
func (m *Member) Step(e protocol.Event) (protocol.Effects, error) {
	return m.life.Step(m.setup, e, protocol.Handlers{Start: m.start, Receive: m.receive, Expire: m.expire})
}

// start tells everybody the own statement.
func (m *Member) start(s protocol.Start) (protocol.Effects, error) {
	if s.InputHash != m.InputHash() {
		return protocol.Effects{}, errors.New("declare: another statement than the machine was built with")
	}
	e := protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerDeclare}}
	if m.own == nil {
		return e, nil
	}
	for _, other := range m.setup.Session.Members {
		if other.Name != m.setup.Self {
			e.Send = append(e.Send, m.setup.Message(other.Name, roundDeclare, kindDeclare, slices.Clone(m.own)))
		}
	}
	m.take(slices.Index(m.parties, m.setup.Self), m.own)
	return e, nil
}

func (m *Member) take(party int, statement []byte) {
	m.statements[party] = statement
	m.missing--
}

func (m *Member) receive(msg protocol.Message) (protocol.Effects, error) {
	from := slices.Index(m.parties, msg.Sender)
	switch {
	case from < 0 || m.statements[from] != nil || msg.Round != roundDeclare || msg.Kind != kindDeclare || msg.Sequence != 0 || msg.Chunk != 0 || msg.Chunks != 1:
		return protocol.Effects{}, msg.Unexpected()
	case len(msg.Body) < 1 || len(msg.Body) > MaxBytes:
		return protocol.Effects{}, protocol.Blame(msg.Sender, protocol.KindMalformed, fmt.Errorf("declare: a statement of %d bytes; it has 1 to %d", len(msg.Body), MaxBytes))
	}
	m.take(from, msg.Body)
	e := protocol.Effects{Progress: protocol.Progress{Stage: "declare", Done: int64(len(m.parties) - m.missing), Total: int64(len(m.parties))}}
	if m.missing > 0 {
		e.Arm = []protocol.Timer{TimerDeclare}
		return e, nil
	}
	return protocol.Finish(e, nil)
}

// expire names the first party that has stated nothing.
func (m *Member) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerDeclare {
		return protocol.Effects{}, fmt.Errorf("declare: a member has no timer %q", t)
	}
	silent := slices.IndexFunc(m.statements, func(b []byte) bool { return b == nil }) // one is missing, or the session is over
	why := fmt.Errorf("declare: %d of %d statements did not come in time", m.missing, len(m.parties))
	return protocol.Finish(protocol.Effects{}, protocol.Blame(m.parties[silent], protocol.KindSilent, why))
}
