package roster

import (
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Role names a member's part in the federation.
type Role string

// The roles of a federation. What a member does in one session is that
// session's affair.
const (
	Coordinator Role = "coordinator" // runs the broker and the jobs; holds no data
	Party       Role = "party"       // holds data
)

// Member is one process of the federation with its public keys.
type Member struct {
	Name string
	Role Role
	identity.Public
}

// Roster is everyone in a federation. Callers do not change one that has been
// validated.
type Roster struct {
	Federation string
	Members    []Member
}

// Lookup returns the member called name.
func (r *Roster) Lookup(name string) (Member, bool) {
	i := slices.IndexFunc(r.Members, func(m Member) bool { return m.Name == name })
	if i < 0 {
		return Member{}, false
	}
	return r.Members[i], true
}

// SigningKey returns the key under which name's messages verify.
func (r *Roster) SigningKey(name string) (ed25519.PublicKey, bool) {
	m, ok := r.Lookup(name)
	return m.Sign, ok
}

// Coordinator returns the one member with that role; r is valid.
func (r *Roster) Coordinator() Member {
	i := slices.IndexFunc(r.Members, func(m Member) bool { return m.Role == Coordinator })
	if i < 0 {
		panic("roster: Coordinator of a roster that was not validated")
	}
	return r.Members[i]
}

// Encode returns the canonical encoding: members by name. A roster without a key of TLS is
// encoded as it was before there was one.
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

// Hash is the SHA-256 of Encode: what operators approve and descriptors carry.
func (r *Roster) Hash() [sha256.Size]byte { return sha256.Sum256(r.Encode()) }

// Fingerprints returns one line for each member, for people to compare.
func (r *Roster) Fingerprints() []string {
	var lines []string
	for _, m := range r.Members {
		lines = append(lines, fmt.Sprintf("%s %s (%s)", m.Fingerprint(), m.Name, m.Role))
	}
	return lines
}
