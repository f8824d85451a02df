package ppsvmv

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version identify the protocol in every session's descriptor.
const (
	Name           = "ppsvmv"
	Version uint16 = 1
)

// Limits on a session.
const (
	MaxWords  = 1 << 28 // 2 GiB pass through every site
	MaxGroups = 8
	MaxSites  = 1 << 10
)

// magic opens encoded parameters.
const magic = "mercer/v1/ppsvmv"

// Params are the public parameters of a session. They never change.
type Params struct {
	groups []int // entries of each
	epoch  [sha256.Size]byte
}

// NewParams describes a sum of some groups of entries. epoch is a digest of the data that must be
// equal at all sites.
func NewParams(groups []int, epoch [sha256.Size]byte) (Params, error) {
	if len(groups) < 1 || len(groups) > MaxGroups {
		return Params{}, fmt.Errorf("ppsvmv: %d groups of entries; there must be 1 to %d", len(groups), MaxGroups)
	}
	words := 0
	for _, n := range groups {
		if n < 1 || n > MaxWords || words+n > MaxWords {
			return Params{}, fmt.Errorf("ppsvmv: a group of %d entries after %d others; there can be %d in all", n, words, MaxWords)
		}
		words += n
	}
	return Params{groups, epoch}, nil
}

// Words returns the number of entries of all groups.
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

// DecodeParams decodes and checks the output of Encode.
func DecodeParams(b []byte) (Params, error) {
	r := wire.NewReader(b)
	if s := r.String(len(magic)); r.Err() == nil && s != magic {
		r.Fail(fmt.Errorf("parameters of %q", s))
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

// ValidateSession returns a session's parameters. It refuses members other than a leader, other
// sites, and a server.
func ValidateSession(s *protocol.Session) (Params, error) {
	sites := s.With(protocol.RoleParty)
	switch {
	case len(s.With(protocol.RoleLeader)) != 1 || len(s.With(protocol.RoleServer)) != 1:
		return Params{}, errors.New("ppsvmv: a session has one leader and one server")
	case len(sites) < 1 || len(sites) >= MaxSites || len(sites)+2 != len(s.Members):
		return Params{}, fmt.Errorf("ppsvmv: %d sites beside the leader among %d members; there must be 1 to %d, and a server", len(sites), len(s.Members), MaxSites-1)
	}
	return DecodeParams(s.Params)
}

const wordBytes = 8

// tile is a piece of a group's entries: the content of one message.
type tile struct{ group, first, entries int }

// tiles divides the groups into pieces of at most the given number of entries.
func (p Params) tiles(most int) []tile {
	var list []tile
	for group, n := range p.groups {
		for first := 0; first < n; first += most {
			list = append(list, tile{group, first, min(most, n-first)})
		}
	}
	return list
}

// mostEntries is the number of entries of the largest message.
const mostEntries = protocol.MaxChunkBytes / wordBytes

// add adds numbers to words modulo 2^64.
func add(words []byte, numbers []int64) {
	for i, v := range numbers {
		at := words[wordBytes*i:]
		binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)+uint64(v))
	}
}
