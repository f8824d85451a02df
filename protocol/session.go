package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
)

// SessionID is the SHA-256 of a session's descriptor.
type SessionID [sha256.Size]byte

// String returns the first 16 hexadecimal digits, enough to tell sessions
// apart in a log.
func (id SessionID) String() string { return hex.EncodeToString(id[:8]) }

// Hex returns all 64 hexadecimal digits.
func (id SessionID) Hex() string { return hex.EncodeToString(id[:]) }

// Session is a validated descriptor with its ID. It never changes.
type Session struct {
	Descriptor
	id    SessionID
	index map[string]int
}

// NewSession validates d and computes its ID. The caller must not change d's slices afterwards.
func NewSession(d Descriptor) (*Session, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	s := &Session{Descriptor: d, id: sha256.Sum256(d.Encode()), index: make(map[string]int, len(d.Members))}
	for i, m := range d.Members {
		s.index[m.Name] = i
	}
	return s, nil
}

// ID returns the SHA-256 of the session's descriptor.
func (s *Session) ID() SessionID { return s.id }

// Index returns the position of the member called name, or -1.
func (s *Session) Index(name string) int {
	if i, ok := s.index[name]; ok {
		return i
	}
	return -1
}

// RoleOf returns the role of the member called name, or "".
func (s *Session) RoleOf(name string) Role {
	if i, ok := s.index[name]; ok {
		return s.Members[i].Role
	}
	return ""
}

// With returns the names of the members that have one of the roles, in the descriptor's order.
func (s *Session) With(roles ...Role) []string {
	var names []string
	for _, m := range s.Members {
		for _, r := range roles {
			if m.Role == r {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

// Header returns the header of an unchunked message of this session.
func (s *Session) Header(from, to string, round uint16, kind string) Header {
	return Header{Session: s.id, Protocol: s.Protocol, Round: round, Kind: kind, Sender: from, Receiver: to, Chunks: 1}
}

// Check returns an error unless h is the header of a message to self in this session. The header
// must name the session's protocol, and a member as the sender.
func (s *Session) Check(h Header, self string) error {
	switch {
	case h.Session != s.id:
		return Blame(h.Sender, KindForeign, fault.Publicf("a message of session %v arrived in session %v", h.Session, s.id))
	case h.Protocol != s.Protocol:
		return Blame(h.Sender, KindForeign, fault.Publicf("a message of protocol %q arrived in a session of protocol %q", h.Protocol, s.Protocol))
	case h.Receiver != self:
		return Blame(h.Sender, KindForeign, fault.Publicf("a message for %q was delivered to %q", h.Receiver, self))
	case s.Index(h.Sender) < 0:
		return Blame(h.Sender, KindForeign, fault.Publicf("sender %q is not a member of this session", h.Sender))
	}
	return nil
}

// Setup holds the arguments that every machine's constructor takes, besides its private
// input.
type Setup struct {
	Session *Session
	Self    string
	// Seed is the secret from which the machine derives all its randomness. It is drawn once
	// for each session and party.
	Seed [32]byte
	// Anew holds fresh secret bytes if the session's journal was lost and the session is begun anew. The
	// machine has forgotten its earlier work, so it derives from these bytes all that must not be used
	// twice. Anew is nil for a session whose journal was never lost. Only a machine that [AnewUntil] allows
	// begins anew.
	Anew *[32]byte
}

// Check returns an error unless the session has the given protocol and version, and this member has
// one of the roles.
func (s Setup) Check(protocol string, version uint16, roles ...Role) error {
	switch d := s.Session; {
	case d == nil:
		return fmt.Errorf("%s: the setup has no session", protocol)
	case d.Protocol != protocol || d.Version != version:
		return fmt.Errorf("%s: the session runs %s version %d; this machine runs %s version %d", protocol, d.Protocol, d.Version, protocol, version)
	case !slices.Contains(roles, d.RoleOf(s.Self)):
		return fmt.Errorf("%s: %q is not a %s in this session", protocol, s.Self, roles[0])
	}
	return nil
}

// Message returns an unchunked message from this member to another.
func (s Setup) Message(to string, round uint16, kind string, body []byte) Message {
	return Message{Header: s.Session.Header(s.Self, to, round, kind), Body: body}
}
