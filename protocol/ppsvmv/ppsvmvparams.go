package ppsvmv

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version identify the protocol in every session's descriptor.
const (
	Name           = "ppsvmv"
	Version uint16 = 1
)

// Every session has these limits.
const (
	MaxWords  = 1 << 28 // largest number of entries, which take 2 GiB
	MaxGroups = 8
	MaxSites  = 1 << 10
)

// magic is the string at the start of encoded parameters.
const magic = "mercer/v1/ppsvmv"

// Params holds the public parameters of a session. It never changes.
type Params struct {
	groups []int // number of entries of each group
	epoch  [sha256.Size]byte
}

// NewParams returns the parameters of a sum of groups with the given numbers of entries. The epoch
// is a digest of the data that must be equal at all sites.
func NewParams(groups []int, epoch [sha256.Size]byte) (Params, error) {
	if len(groups) < 1 || len(groups) > MaxGroups {
		return Params{}, fmt.Errorf("ppsvmv: there are %d groups of entries; 1 to %d are allowed", len(groups), MaxGroups)
	}
	words := 0
	for _, n := range groups {
		if n < 1 || n > MaxWords || words+n > MaxWords {
			return Params{}, fmt.Errorf("ppsvmv: a group has %d entries after %d entries in earlier groups; each group requires at least one entry, and all groups together may have at most %d", n, words, MaxWords)
		}
		words += n
	}
	return Params{groups, epoch}, nil
}

// Words returns the number of entries of all groups together.
func (p Params) Words() int {
	words := 0
	for _, n := range p.groups {
		words += n
	}
	return words
}

// Encode returns the canonical encoding, for Descriptor.Params.
func (p Params) Encode() []byte {
	var w wire.Writer
	w.String(magic)
	w.Fixed(p.epoch[:])
	w.Uint32(uint32(len(p.groups)))
	for _, n := range p.groups {
		w.Uint32(uint32(n))
	}
	return w.Bytes()
}

// DecodeParams decodes and validates parameters that Encode has returned.
func DecodeParams(b []byte) (Params, error) {
	r := wire.NewReader(b)
	if s := r.String(len(magic)); r.Err() == nil && s != magic {
		r.Fail(fmt.Errorf("the parameters are for %q, not for protocol ppsvmv", s))
	}
	var epoch [sha256.Size]byte
	r.Fixed(epoch[:])
	var groups []int
	for range r.Count(MaxGroups, 4) {
		groups = append(groups, int(r.Uint32()))
	}
	if err := r.Close("ppsvmv: parameters"); err != nil {
		return Params{}, err
	}
	return NewParams(groups, epoch)
}

// ValidateSession returns a session's parameters. It returns an error unless the members are a
// leader, other sites and a server.
func ValidateSession(s *protocol.Session) (Params, error) {
	sites := s.With(protocol.RoleParty)
	switch {
	case len(s.With(protocol.RoleLeader)) != 1 || len(s.With(protocol.RoleServer)) != 1:
		return Params{}, fmt.Errorf("ppsvmv: the session has %d leaders and %d servers; one of each is required", len(s.With(protocol.RoleLeader)), len(s.With(protocol.RoleServer)))
	case len(sites) < 1 || len(sites) >= MaxSites || len(sites)+2 != len(s.Members):
		return Params{}, fmt.Errorf("ppsvmv: a session requires one leader, one server, 1 to %d other sites and no other member; this session has %d other sites among %d members", MaxSites-1, len(sites), len(s.Members))
	}
	return DecodeParams(s.Params)
}

const wordBytes = 8

// tile is the range of a group's entries that one message holds.
type tile struct{ group, first, entries int }

// tiles divides the groups into tiles of at most the given number of entries.
func (p Params) tiles(most int) []tile {
	var list []tile
	for group, n := range p.groups {
		for first := 0; first < n; first += most {
			list = append(list, tile{group, first, min(most, n-first)})
		}
	}
	return list
}

// mostEntries is the largest number of entries in a message.
const mostEntries = protocol.MaxChunkBytes / wordBytes

// add adds numbers to encoded words, modulo 2^64.
func add(words []byte, numbers []int64) {
	for i, v := range numbers {
		at := words[wordBytes*i:]
		binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)+uint64(v))
	}
}
