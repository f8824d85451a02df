package protocol

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
)

// Role is a member's part in a session.
type Role string

// The roles of members.
const (
	RoleServer Role = "server" // computes on messages of the parties, which in most protocols hide their data
	RoleLeader Role = "leader" // holds data and has a special part, such as drawing secrets that the server must not know
	RoleParty  Role = "party"  // holds data; in some protocols it also computes like a keeper
	RoleKeeper Role = "keeper" // computes on parts of data that say nothing alone, and holds no data
)

// Member is one participant of a session.
type Member struct {
	Name string
	Role Role
}

// Members returns a member of the role for each name.
func Members(role Role, names ...string) []Member {
	members := make([]Member, len(names))
	for i, name := range names {
		members[i] = Member{Name: name, Role: role}
	}
	return members
}

// Descriptor fixes everything public about a session before it starts. No two sessions have the
// same descriptor, because each attempt has a nonce of its own.
type Descriptor struct {
	Protocol string
	Version  uint16
	Params   []byte // canonical encoding of the protocol's own parameters
	Roster   [sha256.Size]byte
	Members  []Member // all members, in the order in which machines add up their numbers
	Purpose  string   // the session's purpose, such as "train" or "predict"
	Attempt  uint32
	Nonce    [32]byte
	// Parent is the ID of the earlier session whose secret or result this session uses. It is zero
	// if there is no such session.
	Parent SessionID
}

// DecodeDescriptor enforces these limits on a peer's descriptor.
const (
	MaxMembers     = 1 << 16
	maxParamsBytes = 1 << 20
)

// Encode returns the canonical encoding of d. Its SHA-256 is the session's ID.
func (d *Descriptor) Encode() []byte {
	var w wire.Writer
	w.String("mercer/v1/descriptor")
	w.String(d.Protocol)
	w.Uint16(d.Version)
	w.Bytes32(d.Params)
	w.Fixed(d.Roster[:])
	w.Uint32(uint32(len(d.Members)))
	for _, m := range d.Members {
		w.String(m.Name)
		w.String(string(m.Role))
	}
	w.String(d.Purpose)
	w.Uint32(d.Attempt)
	w.Fixed(d.Nonce[:])
	w.Fixed(d.Parent[:])
	return w.Bytes()
}

// DecodeDescriptor decodes and validates a descriptor that Encode wrote.
func DecodeDescriptor(b []byte) (*Descriptor, error) {
	r := wire.NewReader(b)
	if s := r.String(MaxNameBytes); r.Err() == nil && s != "mercer/v1/descriptor" {
		r.Fail(errors.New("the bytes are not a descriptor"))
	}
	d := &Descriptor{Protocol: r.String(MaxNameBytes), Version: r.Uint16(), Params: r.Bytes32(maxParamsBytes)}
	r.Fixed(d.Roster[:])
	n := r.Count(MaxMembers, 4)
	for range n {
		d.Members = append(d.Members, Member{r.String(MaxNameBytes), Role(r.String(MaxNameBytes))})
	}
	d.Purpose = r.String(MaxNameBytes)
	d.Attempt = r.Uint32()
	r.Fixed(d.Nonce[:])
	r.Fixed(d.Parent[:])
	if err := r.Close("protocol: descriptor"); err != nil {
		return nil, err
	}
	return d, d.Validate()
}

// Validate returns an error if d has no protocol, no members, or invalid or repeated member
// names.
func (d *Descriptor) Validate() error {
	switch {
	case d.Protocol == "":
		return errors.New("protocol: the descriptor names no protocol")
	case len(d.Members) == 0:
		return errors.New("protocol: the descriptor names no members")
	}
	seen := make(map[string]bool, len(d.Members))
	for _, m := range d.Members {
		if m.Name == "" || len(m.Name) > MaxNameBytes {
			return fmt.Errorf("protocol: member name %q has a wrong length; use 1 to %d bytes", m.Name, MaxNameBytes)
		}
		if seen[m.Name] {
			return fmt.Errorf("protocol: two members are called %q; give each its own name", m.Name)
		}
		seen[m.Name] = true
	}
	return nil
}
