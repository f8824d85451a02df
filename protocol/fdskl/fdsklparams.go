package fdskl

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/protocol"
)

// Name and Version identify the protocol in every session's descriptor.
const (
	Name           = "fdskl"
	Version uint16 = 1
)

// Mode names the method that hides phases from the workers that add them up.
type Mode string

// The modes of a session.
const (
	Hardened Mode = "hardened" // each pair of workers agrees on a mask; these masks cancel in the sum
	Paper    Mode = "paper"    // each worker adds its own mask; the sum of all masks goes up a second tree and is subtracted
)

// Limits on the size of a session.
const (
	MaxWorkers    = 64
	MaxRows       = 1 << 28
	MaxDirections = 1 << 24
)

// Spec holds the settings that are agreed before a session.
type Spec struct {
	Mode     Mode     // "" means Hardened
	Topology Topology // "" means Binary
	// Bits is the size of a phase's word: 8, 16 or 32, where 0 means 16. A full turn has 2^Bits
	// steps.
	Bits int
	// Rows is the number of aligned rows, numbered 0 to Rows-1. Directions is the largest number of
	// random directions that can be requested for each row.
	Rows, Directions int
	// Alignment is a commitment to the rows and their order. All workers must have the same
	// commitment.
	Alignment [sha256.Size]byte
	// Asynchronous lets several active workers make iterations at the same time instead of in
	// turns.
	Asynchronous bool
}

// Params is a validated [Spec]; it never changes. Values are comparable.
type Params struct{ spec Spec }

// NewParams fills in the defaults of s and refuses invalid settings.
func NewParams(s Spec) (Params, error) {
	if s.Mode == "" {
		s.Mode = Hardened
	}
	if s.Topology == "" {
		s.Topology = Binary
	}
	if s.Bits == 0 {
		s.Bits = 16
	}
	return Params{s}, s.validate()
}

func (s Spec) validate() error {
	switch {
	case s.Mode != Hardened && s.Mode != Paper:
		return fmt.Errorf("fdskl: mode is %q; choose hardened or paper", string(s.Mode))
	case s.Bits != 8 && s.Bits != 16 && s.Bits != 32:
		return fmt.Errorf("fdskl: phases have %d bits; choose 8, 16 or 32", s.Bits)
	case s.Rows < 1 || s.Rows > MaxRows:
		return fmt.Errorf("fdskl: the session has %d aligned rows; 1 to %d are allowed", s.Rows, MaxRows)
	case s.Directions < 1 || s.Directions > MaxDirections:
		return fmt.Errorf("fdskl: the session has %d directions; 1 to %d are allowed", s.Directions, MaxDirections)
	}
	return s.Topology.validate()
}

// Spec returns the settings with every default filled in.
func (p Params) Spec() Spec { return p.spec }

func (p Params) ring() ring { return ring(p.spec.Bits) }

// Encode returns the canonical encoding of the parameters, for [protocol.Descriptor].Params.
func (p Params) Encode() []byte {
	var w wire.Writer
	w.String("mercer/v1/fdskl")
	w.String(string(p.spec.Mode))
	w.String(string(p.spec.Topology))
	w.Uint8(uint8(p.spec.Bits))
	w.Uint32(uint32(p.spec.Rows))
	w.Uint32(uint32(p.spec.Directions))
	w.Fixed(p.spec.Alignment[:])
	w.Bool(p.spec.Asynchronous)
	return w.Bytes()
}

// DecodeParams decodes and validates the output of [Params.Encode].
func DecodeParams(b []byte) (Params, error) {
	const longest = 32
	r := wire.NewReader(b)
	if s := r.String(longest); r.Err() == nil && s != "mercer/v1/fdskl" {
		r.Fail(errors.New("the parameters are not for fdskl"))
	}
	s := Spec{Mode: Mode(r.String(longest)), Topology: Topology(r.String(longest)), Bits: int(r.Uint8()), Rows: int(r.Uint32()), Directions: int(r.Uint32())}
	r.Fixed(s.Alignment[:])
	s.Asynchronous = r.Bool()
	if err := r.Close("fdskl: parameters"); err != nil {
		return Params{}, err
	}
	if err := s.validate(); err != nil {
		return Params{}, err
	}
	return Params{s}, nil
}

// ValidateSession returns the session's parameters, or an error if this protocol cannot run the
// session. A session needs at least one leader, which is an active worker, at least two workers,
// and no other members.
func ValidateSession(s *protocol.Session) (Params, error) {
	active, passive := len(s.With(protocol.RoleLeader)), len(s.With(protocol.RoleParty))
	switch {
	case s.Protocol != Name || s.Version != Version:
		return Params{}, fmt.Errorf("fdskl: the session is for %s version %d; this program runs %s version %d", s.Protocol, s.Version, Name, Version)
	case active == 0 || active+passive < 2 || active+passive != len(s.Members):
		return Params{}, fmt.Errorf("fdskl: the session has %d leaders, %d parties and %d other members; it needs at least one leader, at least two workers and no other members", active, passive, len(s.Members)-active-passive)
	case len(s.Members) > MaxWorkers:
		return Params{}, fmt.Errorf("fdskl: the session has %d workers; at most %d are allowed", len(s.Members), MaxWorkers)
	}
	p, err := DecodeParams(s.Params)
	if err != nil {
		return Params{}, err
	}
	if p.spec.Mode == Paper {
		return p, SafeTrees(p.spec.Topology.Tree(len(s.Members)), maskTree(len(s.Members)))
	}
	return p, nil
}

// trees returns the trees along which the words of a request go up: one, or two in mode paper.
func (p Params) trees(workers int) []Tree {
	trees := []Tree{p.spec.Topology.Tree(workers)}
	if p.spec.Mode == Paper {
		trees = append(trees, maskTree(workers))
	}
	return trees
}
