package roster

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/protocol"
)

// MaxMembers bounds a federation. Crowds of devices are not members.
const MaxMembers = 4096

const maxNameBytes = 63

// Validate reports the first thing about r that no federation may have.
func (r *Roster) Validate() error {
	if err := validName(r.Federation); err != nil {
		return fmt.Errorf("roster: federation: %w", err)
	}
	if n := len(r.Members); n > MaxMembers {
		return fmt.Errorf("roster: %d members, at most %d", n, MaxMembers)
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
		return fmt.Errorf("roster: %d members have the role coordinator, there must be exactly one", coordinators)
	}
	return nil
}

func (m Member) validate() error {
	if err := validName(m.Name); err != nil {
		return err
	}
	// Errors before a signature verifies blame this name.
	if m.Name == protocol.Transport {
		return errors.New("the name is reserved, choose another")
	}
	if m.Role != Coordinator && m.Role != Party {
		return fmt.Errorf("role %q: it is %q or %q", m.Role, Coordinator, Party)
	}
	if m.Role == Party && len(m.TLS) > 0 {
		return errors.New("a party has no TLS key: others connect to the coordinator only")
	}
	return m.Public.Validate()
}

// claims remembers who holds a name or a key.
type claims map[string]string

func (c claims) member(m Member) error {
	if _, taken := c["name "+m.Name]; taken {
		return fmt.Errorf("two members are called %q; give each its own name", m.Name)
	}
	c["name "+m.Name] = m.Name
	// A key of TLS is like a signing key, and is none.
	for _, key := range []struct{ what, value string }{
		{"signing key", string(m.Sign)}, {"KEM key", string(m.KEM)}, {"nkey", m.NKey}, {"signing key", string(m.TLS)},
	} {
		if key.value == "" {
			continue // without TLS
		}
		if holder, taken := c[key.what+key.value]; taken {
			return fmt.Errorf("%q and %q have the same %s; every process creates its own identity", holder, m.Name, key.what)
		}
		c[key.what+key.value] = m.Name
	}
	return nil
}

// validName accepts what can be a broker's subject token and a file's name on
// every system: lower-case letters, digits and inner hyphens.
func validName(s string) error {
	if s == "" || len(s) > maxNameBytes {
		return fmt.Errorf("a name of %d bytes, want 1 to %d", len(s), maxNameBytes)
	}
	for i, c := range []byte(s) {
		letter := 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
		if !letter && (c != '-' || i == 0) {
			return fmt.Errorf("name %q: lower-case letters, digits and hyphens only, and no hyphen first", s)
		}
	}
	return nil
}
