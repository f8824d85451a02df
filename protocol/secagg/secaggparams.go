package secagg

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version appear in the descriptor of every session.
const (
	Name           = "secagg"
	Version uint16 = 1
)

// Spec holds the settings of a session that are agreed before it starts.
type Spec struct {
	Adversary Adversary // "" means Active
	Corrupted float64   // fraction of the clients that may collude with the server
	Dropped   float64   // fraction of the clients that may vanish
	Sigma     float64   // security in bits; see [Cohort]; 0 means 40
	Eta       float64   // robustness in bits; see [Cohort]; 0 means 20
	// Minimum is the least number of vectors in a sum that clients unmask, at least 2. NewParams
	// raises it to the number that remains after the agreed dropouts. Otherwise a server could
	// choose a smaller sum with mostly corrupted clients.
	Minimum int
	// Epoch names the period in which a client sends at most one vector for each purpose, even if
	// the session fails.
	Epoch  string
	Groups []Group
}

// Params is a validated [Spec] for a number of clients; it never changes.
type Params struct {
	spec    Spec
	clients int
	layout  *Layout
	degree  Degree
	cohort  int // least number of clients at the start
	masker  Masker
}

// NewParams fills in the defaults of s. It returns an error if the guarantees cannot hold
// with the given number of clients.
func NewParams(s Spec, clients int) (Params, error) {
	if s.Adversary == "" {
		s.Adversary = Active
	}
	if clients > maxClients {
		return Params{}, fmt.Errorf("secagg: the session has %d clients; at most %d are allowed", clients, maxClients)
	}
	cohort := Cohort{clients, s.Corrupted, s.Dropped, s.Adversary, s.Sigma, s.Eta}.orDefault()
	s.Sigma, s.Eta = cohort.Sigma, cohort.Eta
	degree, err := cohort.Degree()
	if err != nil {
		return Params{}, err
	}
	switch {
	case s.Minimum < 2 || s.Minimum > clients:
		return Params{}, fmt.Errorf("secagg: the minimum cohort is %d of %d clients; use at least 2 and at most the number of clients", s.Minimum, clients)
	case s.Epoch == "" || len(s.Epoch) > maxEpochBytes:
		return Params{}, fmt.Errorf("secagg: the epoch's name has %d bytes; use 1 to %d bytes that name the period in which a client contributes once", len(s.Epoch), maxEpochBytes)
	case degree.Holders > maxHeld(clients):
		return Params{}, fmt.Errorf("secagg: with %d clients, each client needs %d holders, whose keys do not fit in a message; allow for fewer corrupted or dropped clients", clients, degree.Holders)
	}
	s.Minimum = max(s.Minimum, cohort.survivors())
	layout, err := NewLayout(clients, s.Groups)
	if err != nil {
		return Params{}, err
	}
	s.Groups = layout.Groups
	return Params{s, clients, layout, degree, max(s.Minimum, cohort.leastCohort(degree)), AESCTR{}}, nil
}

// maxClients is the largest number of clients that a session can have besides its server.
const maxClients = protocol.MaxMembers - 1

// Spec returns the settings with every default filled in.
func (p Params) Spec() Spec { return p.spec }

// Layout returns the layout in which vectors are packed.
func (p Params) Layout() *Layout { return p.layout }

// Degree returns the number of holders of each client's shares, and the threshold.
func (p Params) Degree() Degree { return p.degree }

// Cohort returns the least number of clients with which a session may start.
func (p Params) Cohort() int { return p.cohort }

// Encode returns the canonical encoding of the parameters, for [protocol.Descriptor].Params.
func (p Params) Encode() []byte {
	var w wire.Writer
	w.String("mercer/v1/secagg")
	w.String(string(p.spec.Adversary))
	for _, v := range []float64{p.spec.Corrupted, p.spec.Dropped, p.spec.Sigma, p.spec.Eta} {
		w.Float64(v)
	}
	w.Uint32(uint32(p.spec.Minimum))
	w.String(p.spec.Epoch)
	p.layout.encodeTo(&w)
	return w.Bytes()
}

// maxEpochBytes limits the length of an epoch's name.
const maxEpochBytes = 128

// DecodeParams decodes the output of [Params.Encode], and refuses all other bytes.
func DecodeParams(b []byte) (Params, error) {
	r := wire.NewReader(b)
	if magic := r.String(32); r.Err() == nil && magic != "mercer/v1/secagg" {
		r.Fail(fmt.Errorf("the parameters begin with %q, so they are not for secagg", magic))
	}
	s := Spec{Adversary: Adversary(r.String(32))}
	for _, v := range []*float64{&s.Corrupted, &s.Dropped, &s.Sigma, &s.Eta} {
		if *v = r.Float64(); math.IsNaN(*v) {
			r.Fail(fmt.Errorf("a fraction, sigma or eta in the parameters is not a number (NaN)"))
		}
	}
	s.Minimum, s.Epoch = int(r.Uint32()), r.String(maxEpochBytes)
	layout := readLayout(r)
	if err := r.Close("secagg: parameters"); err != nil {
		return Params{}, err
	}
	s.Groups = layout.Groups
	p, err := NewParams(s, layout.Cohort)
	if err != nil {
		return Params{}, err
	}
	if !bytes.Equal(p.Encode(), b) {
		return Params{}, errors.New("secagg: the parameters are not in canonical form: a default is missing or the minimum is too low; encode the Params that NewParams returns")
	}
	return p, nil
}

// readLayout reads a layout from the output of encodeTo. Errors are kept in r.
func readLayout(r *wire.Reader) *Layout {
	cohort := int(r.Uint32())
	groups := make([]Group, r.Count(maxGroups, 17))
	for i := range groups {
		entries, bound := r.Uint64(), r.Uint64()
		if entries > MaxEntries || bound >= 1<<63 {
			r.Fail(fmt.Errorf("a group has %d entries with bound %d; there may be at most 2^33 entries, and the bound must be below 2^63", entries, bound))
			return nil
		}
		groups[i] = Group{int(entries), int64(bound), r.Bool()}
	}
	if r.Err() != nil {
		return nil
	}
	l, err := NewLayout(cohort, groups)
	if err != nil {
		r.Fail(err)
	}
	return l
}

// holders returns the holders of a client's shares, in ascending order. In a complete graph, they
// are all clients of the cohort, including the client itself.
func (p Params) holders(id protocol.SessionID, self int, cohort set, seed [32]byte) []int {
	others := slices.DeleteFunc(cohort.list(), func(i int) bool { return i == self })
	switch {
	case p.degree.Complete:
		return cohort.list()
	case len(others) <= p.degree.Holders:
		return others
	case p.spec.Adversary == SemiHonest:
		return ring(id, self, cohort.list(), p.degree.Holders)
	}
	return drawHolders(seed, others, p.degree.Holders)
}

// drawHolders draws k of the other clients with the client's own randomness, after the server has
// fixed the cohort. A server that could choose or predict a client's holders would choose corrupted
// clients.
func drawHolders(seed [32]byte, others []int, k int) []int {
	order := prg.New(seed, "secagg/holders").Perm(len(others))
	list := make([]int, k)
	for i := range list {
		list[i] = others[order[i]]
	}
	slices.Sort(list)
	return list
}

// ring returns the k clients nearest to a client on a ring of the cohort, k/2 on each side
// (Harary's graph). The order of the ring depends on the session. A server that draws many sessions
// can choose the order, so the ring resists semi-honest servers only.
func ring(id protocol.SessionID, self int, cohort []int, k int) []int {
	order := slices.Clone(cohort)
	slices.SortFunc(order, func(a, b int) int {
		x, y := place(id, a), place(id, b)
		return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a, b))
	})
	at := slices.Index(order, self)
	var list []int
	for d := 1; d <= k/2; d++ {
		list = append(list, order[(at+d)%len(order)], order[(at-d+len(order))%len(order)])
	}
	slices.Sort(list)
	return list
}

// place returns the hash by which clients are ordered on the ring.
func place(id protocol.SessionID, client int) [sha256.Size]byte {
	return sha256.Sum256(binary.LittleEndian.AppendUint32(id[:len(id):len(id)], uint32(client)))
}
