package sealed

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/base/fault"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/internal/ring128"
)

// name is the protocol's name in headers.
const name = Name

// role is the place of a keeper: the two servers and the dealer.
type role int

const (
	serverA role = iota
	serverB
	dealerC
)

// part is one of the three parts of an upload: the two masks, which are streams of seeds, and the words that are left.
type part int

const (
	maskA part = iota
	maskB
	masked
	parts int = 3
)

// name returns the name of the part in its commitment.
func (p part) name() string { return [...]string{"mask a", "mask b", "masked"}[p] }

// parts returns the two parts of an upload that a keeper holds.
func (r role) parts() [2]part {
	return [...][2]part{{maskA, masked}, {maskB, masked}, {maskA, maskB}}[r]
}

// setting holds what the members of a session agree on before they compute.
type setting struct {
	problem Problem
	session protocol.SessionID
	keepers [3]string // by role
}

func (s setting) check() error {
	for i, k := range s.keepers {
		if k == "" || len(k) > protocol.MaxNameBytes || slices.Index(s.keepers[:], k) != i {
			return fmt.Errorf("sealed: the keepers are %q; use three different names of 1 to %d bytes", s.keepers, protocol.MaxNameBytes)
		}
	}
	return s.problem.Check()
}

// triangle and vectors return the numbers of words of a symmetric matrix and of the vectors.
func (s setting) triangle() int { return ring128.Triangle(s.problem.Features) }

func (s setting) vectors() int { return s.problem.Targets * s.problem.Features }

// inputWords returns the number of words of A and B together.
func (s setting) inputWords() int { return s.triangle() + s.vectors() }

// admit returns an error unless h is a header of this session to the given keeper.
func (s setting) admit(h protocol.Header, self role) error {
	switch {
	case h.Session != s.session || h.Protocol != name:
		return protocol.Blame(h.Sender, protocol.KindForeign, fault.Publicf("a message of session %v and protocol %q arrived in session %v of protocol %q", h.Session, h.Protocol, s.session, name))
	case h.Receiver != s.keepers[self]:
		return protocol.Blame(h.Sender, protocol.KindForeign, fault.Publicf("a message for %q was delivered to %q", h.Receiver, s.keepers[self]))
	}
	return nil
}

// computation is one generation of the keepers' work. A generation's messages have its number as their sequence, so
// that no header occurs in two generations.
type computation struct {
	setting
	generation uint32
}

// squaring reports whether a step is a squaring: these come first, and then the products.
func (c computation) squaring(step int) bool { return step < c.problem.Plan.Squarings() }

// steps returns the number of steps.
func (c computation) steps() int { return c.problem.Plan.InARow() }

// powers reports whether a step is a product with T_m(H), and not with H.
func (c computation) powers(step int) bool {
	return step-c.problem.Plan.Squarings() >= c.problem.Plan.Block-1
}

// fraction returns the fraction bits of the matrix that a step squares.
func (c computation) fraction(step int) uint {
	if step == 0 {
		return c.problem.matrixBits()
	}
	return c.problem.VectorBits()
}

// words returns the number of words that each message of a step has.
func (c computation) words(step int) int {
	if c.squaring(step) {
		return c.triangle()
	}
	return c.vectors()
}

// expects reports whether an honest keeper sends such a message to this one: digests, opened words or dealt words.
func (c computation) expects(from, self role, h protocol.Header) bool {
	switch step := int(h.Round); {
	case h.Kind == kindInputs:
		return step == 0 && h.Chunks == 1
	case h.Kind == kindOpening && from != dealerC && self != dealerC, h.Kind == kindDealing && from == dealerC && self == serverB:
		return step < c.steps() && int64(h.Chunks) == int64(chunks(c.words(step)))
	}
	return false
}

func (c computation) header(from, to role, step int, kind string) protocol.Header {
	return protocol.Header{
		Session: c.session, Protocol: name, Round: uint16(step), Kind: kind, Sequence: c.generation,
		Sender: c.keepers[from], Receiver: c.keepers[to], Chunks: 1,
	}
}

// admitKeeper returns the role of the keeper that sent h, or an error unless h belongs to this generation.
func (c computation) admitKeeper(h protocol.Header, self role) (role, error) {
	if err := c.admit(h, self); err != nil {
		return 0, err
	}
	from := role(slices.Index(c.keepers[:], h.Sender))
	if from < 0 || from == self || h.Sequence != c.generation {
		return 0, h.Unexpected()
	}
	return from, nil
}
