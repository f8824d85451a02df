package psi

import (
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version stand in the descriptor of every session.
const (
	Name           = "psi"
	Version uint16 = 1
)

// Bounds on a session.
const (
	MaxIDs     = 1 << 22 // of one party, whatever the parameters say
	MaxIDBytes = 1 << 10 // of one id
	MaxParties = 64
)

// DefaultMaxIDs bounds the ids that a party may bring where a job says nothing.
const DefaultMaxIDs = 1 << 20

// Spec holds a job's settings of an intersection.
type Spec struct {
	// MaxIDs bounds the ids that a party may bring, and so the ids of its own choice
	// that it can look for in the others' sets. 0 means 1,048,576.
	MaxIDs int `yaml:"max_ids"`
}

// Params is a validated [Spec]; it never changes.
type Params struct{ spec Spec }

// NewParams fills in the default of s and validates it.
func NewParams(s Spec) (Params, error) {
	if s.MaxIDs == 0 {
		s.MaxIDs = DefaultMaxIDs
	}
	if s.MaxIDs < 1 || s.MaxIDs > MaxIDs {
		return Params{}, fmt.Errorf("psi: max_ids is %d; choose 1 to %d", s.MaxIDs, MaxIDs)
	}
	return Params{s}, nil
}

// Spec returns the settings with every default filled in.
func (p Params) Spec() Spec { return p.spec }

// Encode returns the canonical encoding, which goes into Descriptor.Params.
func (p Params) Encode() []byte {
	var w wire.Writer
	w.String("mercer/v1/psi")
	w.Uint32(uint32(p.spec.MaxIDs))
	return w.Bytes()
}

// DecodeParams decodes and validates what Encode wrote.
func DecodeParams(b []byte) (Params, error) {
	r := wire.NewReader(b)
	if s := r.String(32); r.Err() == nil && s != "mercer/v1/psi" {
		r.Fail(errors.New("not the parameters of psi"))
	}
	n := r.Uint32()
	if r.Err() == nil && (n < 1 || n > MaxIDs) {
		r.Fail(fmt.Errorf("%d ids of a party; 1 to %d are possible", n, MaxIDs))
	}
	if err := r.Close("psi: parameters"); err != nil {
		return Params{}, err
	}
	return Params{Spec{MaxIDs: int(n)}}, nil
}

// sizing bounds the work that is done at a time. Sessions use bulk; tests use less.
type sizing struct {
	elements  int // of a message, and of a step's work
	positions int // of a message
	messages  int // that a step sends from what is ready
}

// bulk makes a step of some 2,000 elements, which take one core about 100 ms,
// and messages of 64 KiB at most, which journals keep beside their records.
func bulk() sizing { return sizing{elements: 2048, positions: 8192, messages: 32} }

// chunks returns the number of messages that n things take, at least one.
func chunks(n, each int) int { return max(1, (n+each-1)/each) }

// partiesOf returns who holds a set, in the descriptor's order.
func partiesOf(s *protocol.Session) []string {
	return s.With(protocol.RoleLeader, protocol.RoleParty)
}
