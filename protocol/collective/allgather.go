package collective

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/protocol"
)

// AllGatherName and AllGatherVersion identify an all-gather in a session's descriptor. An
// all-gather has no parameters.
const (
	AllGatherName           = "declare" // the original name of this protocol
	AllGatherVersion uint16 = 1
)

// MaxStatementBytes is the largest length of a party's statement.
const MaxStatementBytes = 4 << 10

// maxMembers limits the members of a session, because one step sends a statement to every other
// member.
const maxMembers = protocol.MaxStepBytes / MaxStatementBytes

// TimerAllGather limits a member's wait for the next statement.
const TimerAllGather protocol.Timer = "declare/declare"

const (
	roundStatement uint16 = 1
	kindStatement         = "Declare"
)

// AllGather is the machine of every member of an all-gather. A server receives statements and
// sends none.
type AllGather struct {
	setup      protocol.Setup
	life       protocol.Life
	own        []byte
	parties    []string // names in the descriptor's order
	statements [][]byte // statement of each party; nil before it arrives
	missing    int
}

// NewAllGather returns the machine of a party that sends the given statement. The statement has
// 1 to MaxStatementBytes bytes.
func NewAllGather(s protocol.Setup, statement []byte) (*AllGather, error) {
	if len(statement) < 1 || len(statement) > MaxStatementBytes {
		return nil, fmt.Errorf("collective: the statement has %d bytes; use 1 to %d", len(statement), MaxStatementBytes)
	}
	return newAllGather(s, statement, protocol.RoleParty, protocol.RoleLeader)
}

// NewAllGatherServer returns the machine of a server, which receives statements but sends none.
func NewAllGatherServer(s protocol.Setup) (*AllGather, error) {
	return newAllGather(s, nil, protocol.RoleServer)
}

func newAllGather(s protocol.Setup, statement []byte, roles ...protocol.Role) (*AllGather, error) {
	if err := s.Check(AllGatherName, AllGatherVersion, roles...); err != nil {
		return nil, err
	}
	d := s.Session
	m := &AllGather{setup: s, own: statement, parties: d.With(protocol.RoleParty, protocol.RoleLeader)}
	m.statements, m.missing = make([][]byte, len(m.parties)), len(m.parties)
	switch {
	case len(d.Params) > 0:
		return nil, fmt.Errorf("collective: the descriptor has %d bytes of parameters; an all-gather must have none", len(d.Params))
	case len(m.parties) < 2 || len(d.Members) > maxMembers:
		return nil, fmt.Errorf("collective: the session has %d parties among %d members; at least 2 parties and at most %d members are required", len(m.parties), len(d.Members), maxMembers)
	}
	return m, nil
}

// InputHash returns the hash of the member's statement, for [protocol.Start]. A server's statement
// is empty.
func (m *AllGather) InputHash() [sha256.Size]byte { return sha256.Sum256(m.own) }

// Statements returns the parties' statements in the descriptor's order. It requires that the
// session has ended without an error.
func (m *AllGather) Statements() [][]byte { return m.statements }

// Step implements [protocol.Machine].
func (m *AllGather) Step(e protocol.Event) (protocol.Effects, error) {
	return m.life.Step(m.setup, e, protocol.Handlers{Start: m.start, Receive: m.receive, Expire: m.expire})
}

// start sends this member's statement to all other members.
func (m *AllGather) start(s protocol.Start) (protocol.Effects, error) {
	if s.InputHash != m.InputHash() {
		return protocol.Effects{}, errors.New("collective: the statement has changed since the machine was created")
	}
	e := protocol.Effects{Sync: true, Arm: []protocol.Timer{TimerAllGather}}
	if m.own == nil {
		return e, nil
	}
	for _, other := range m.setup.Session.Members {
		if other.Name != m.setup.Self {
			e.Send = append(e.Send, m.setup.Message(other.Name, roundStatement, kindStatement, slices.Clone(m.own)))
		}
	}
	m.take(slices.Index(m.parties, m.setup.Self), m.own)
	return e, nil
}

func (m *AllGather) take(party int, statement []byte) {
	m.statements[party] = statement
	m.missing--
}

func (m *AllGather) receive(msg protocol.Message) (protocol.Effects, error) {
	from := slices.Index(m.parties, msg.Sender)
	switch {
	case from < 0 || m.statements[from] != nil || msg.Round != roundStatement || msg.Kind != kindStatement || msg.Sequence != 0 || msg.Chunk != 0 || msg.Chunks != 1:
		return protocol.Effects{}, msg.Unexpected()
	case len(msg.Body) < 1 || len(msg.Body) > MaxStatementBytes:
		return protocol.Effects{}, protocol.Blame(msg.Sender, protocol.KindMalformed, fmt.Errorf("collective: the statement has %d bytes; use 1 to %d", len(msg.Body), MaxStatementBytes))
	}
	m.take(from, msg.Body)
	e := protocol.Effects{Progress: protocol.Progress{Stage: "all-gather", Done: int64(len(m.parties) - m.missing), Total: int64(len(m.parties))}}
	if m.missing > 0 {
		e.Arm = []protocol.Timer{TimerAllGather}
		return e, nil
	}
	return protocol.Finish(e, nil)
}

// expire ends the session with an error that blames the first party whose statement is missing.
func (m *AllGather) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerAllGather {
		return protocol.Effects{}, fmt.Errorf("collective: a member has no timer %q", t)
	}
	silent := slices.IndexFunc(m.statements, func(b []byte) bool { return b == nil }) // never -1, because the session continues only while a statement is missing
	why := fmt.Errorf("collective: %d of %d statements did not come in time", m.missing, len(m.parties))
	return protocol.Finish(protocol.Effects{}, protocol.Blame(m.parties[silent], protocol.KindSilent, why))
}
