package roster

import (
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Role is a member's part in the federation.
type Role string

// These are the roles in a federation. A session gives its participants roles of its own.
const (
	Coordinator Role = "coordinator" // a member that runs the broker and the jobs, and holds no data
	Party       Role = "party"       // a member that holds data
)

// IsCalled reports whether a member's name equals the word for its role, such as a coordinator that is named
// "coordinator". A sentence then gives the name alone.
func (r Role) IsCalled(member string) bool { return strings.EqualFold(member, string(r)) }

// Member describes one process of the federation with its public keys.
type Member struct {
	Name string
	Role Role
	identity.Public
	// Succession is the signature of the member's earlier identity over these keys; nil if there was none.
	// It is no part of the roster's hash: operators compare fingerprints all the same.
	Succession []byte
}

// Title returns the member's role and name, such as "coordinator hub", or the name alone if it is the word for the
// role.
func (m Member) Title() string {
	if m.Role.IsCalled(m.Name) {
		return m.Name
	}
	return string(m.Role) + " " + m.Name
}

// Roster lists all members of a federation. Callers must not change a validated roster.
type Roster struct {
	Federation string
	Members    []Member
}

// Lookup returns the member with this name.
func (r *Roster) Lookup(name string) (Member, bool) {
	i := slices.IndexFunc(r.Members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return Member{}, false
	}
	return r.Members[i], true
}

// SigningKey returns the public key that verifies the member's messages.
func (r *Roster) SigningKey(name string) (ed25519.PublicKey, bool) {
	m, ok := r.Lookup(name)
	return m.Sign, ok
}

// Coordinator returns the only member with the role coordinator. The roster must be valid.
func (r *Roster) Coordinator() Member {
	i := slices.IndexFunc(r.Members, func(m Member) bool { return m.Role == Coordinator })
	if i < 0 {
		panic("roster: Coordinator of a roster that was not validated")
	}
	return r.Members[i]
}

// Parties returns the names of the members with the role party.
func (r *Roster) Parties() (names []string) {
	for _, m := range r.Members {
		if m.Role == Party {
			names = append(names, m.Name)
		}
	}
	return names
}

// Encode returns the canonical encoding, with the members sorted by name. A roster without a TLS
// key has the encoding of the first version.
func (r *Roster) Encode() []byte {
	members := slices.SortedFunc(slices.Values(r.Members), func(a, b Member) int {
		return cmp.Compare(a.Name, b.Name)
	})
	secure := slices.ContainsFunc(members, func(m Member) bool { return len(m.TLS) > 0 })
	version := "mercer/v1/roster"
	if secure {
		version = "mercer/v2/roster"
	}
	var w wire.Writer
	w.String(version)
	w.Bytes32([]byte(r.Federation))
	w.Uint32(uint32(len(members)))
	for _, m := range members {
		w.Bytes32([]byte(m.Name))
		w.Bytes32([]byte(m.Role))
		m.AppendTo(&w)
		if secure {
			w.Bytes32(m.TLS)
		}
	}
	return w.Bytes()
}

// Hash returns the SHA-256 of the canonical encoding. Operators approve the hash of a whole roster, and
// session descriptors carry that of a [Roster.Subset].
func (r *Roster) Hash() [sha256.Size]byte { return sha256.Sum256(r.Encode()) }

// Fingerprints returns one line for each member, so that operators can compare the members of two
// rosters.
func (r *Roster) Fingerprints() []string {
	var lines []string
	for _, m := range r.Members {
		lines = append(lines, fmt.Sprintf("%s %s (%s)", m.Fingerprint(), m.Name, m.Role))
	}
	return lines
}

// MaxMembers bounds the members of a federation. Devices are not members.
const MaxMembers = 4096

const maxNameBytes = 63

// Validate returns the first error that it finds in r.
func (r *Roster) Validate() error {
	if err := CheckName(r.Federation); err != nil {
		return fmt.Errorf("roster: federation: %w", err)
	}
	if n := len(r.Members); n > MaxMembers {
		return fmt.Errorf("roster: the federation has %d members, but at most %d are allowed", n, MaxMembers)
	}
	seen := make(claims)
	coordinators := 0
	for _, m := range r.Members {
		if err := m.validate(); err != nil {
			return fmt.Errorf("roster: member %q: %w", m.Name, err)
		}
		if err := seen.member(m); err != nil {
			return fmt.Errorf("roster: %w", err)
		}
		if m.Role == Coordinator {
			coordinators++
		}
	}
	if coordinators != 1 {
		return fmt.Errorf("roster: %d members have the role \"coordinator\"; exactly one member must have it", coordinators)
	}
	return nil
}

func (m Member) validate() error {
	if err := CheckName(m.Name); err != nil {
		return err
	}
	// No member may have the transport's name: an error blames the transport while no signature
	// shows which member is at fault.
	if m.Name == protocol.Transport {
		return fmt.Errorf("the name %q is reserved; choose another", m.Name)
	}
	if m.Role != Coordinator && m.Role != Party {
		return fmt.Errorf("the role is %q; it must be %q or %q", m.Role, Coordinator, Party)
	}
	if m.Role == Party && len(m.TLS) > 0 {
		return errors.New("the party has a TLS key; only the coordinator can have one, because members connect only to it")
	}
	if n := len(m.Succession); n > 0 && n != ed25519.SignatureSize {
		return fmt.Errorf("the signature of the earlier key has %d bytes; it must have %d", n, ed25519.SignatureSize)
	}
	return m.Public.Validate()
}

// claims maps each name or key to the member that has it.
type claims map[string]string

func (c claims) member(m Member) error {
	if _, taken := c["name "+m.Name]; taken {
		return fmt.Errorf("two members are called %q; give each its own name", m.Name)
	}
	c["name "+m.Name] = m.Name
	// All signing keys and the TLS key must be different.
	for _, key := range []struct{ what, value string }{
		{"signing key", string(m.Sign)}, {"KEM key", string(m.KEM)}, {"nkey", m.NKey}, {"signing key", string(m.TLS)},
	} {
		if key.value == "" {
			continue // the member has no TLS key
		}
		if holder, taken := c[key.what+key.value]; taken {
			return fmt.Errorf("members %q and %q have the same %s; every process must create its own identity", holder, m.Name, key.what)
		}
		c[key.what+key.value] = m.Name
	}
	return nil
}

// CheckName returns an error unless s can be the name of a member or of a federation: lower-case letters,
// digits and hyphens, and no hyphen first. Such a name can be a broker's subject token and a file's name on
// Linux and macOS.
func CheckName(s string) error {
	if s == "" || len(s) > maxNameBytes {
		return fmt.Errorf("the name has %d bytes; it must have 1 to %d", len(s), maxNameBytes)
	}
	for i, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !letter && (c != '-' || i == 0) {
			return fmt.Errorf("the name is %q; it must have lower-case letters, digits and hyphens only, and must not begin with a hyphen", s)
		}
	}
	return nil
}
