package psi

import (
	"crypto/sha256"

	"github.com/mercer-fl/mercer/internal/crypto/ristretto"
	"github.com/mercer-fl/mercer/protocol"
)

// Cost returns the cost of a session. The function sets returns the number of a party's ids; common is
// the number of ids that all parties have, at least 1.
func Cost(s *protocol.Session, sets func(party string) int, common int) protocol.Cost {
	p := planner{core: core{setup: protocol.Setup{Session: s}, parties: partiesOf(s), sizing: bulk()}, sets: sets, common: common}
	p.exchange()
	for owner := range p.parties {
		if len(p.parties) == 2 {
			p.pair(owner)
		} else {
			p.ring(owner)
		}
	}
	p.cost.Rounds = 5 // the announcement, the blinded set, its tokens, the confirmation, the proof
	if q := len(p.parties); q > 2 {
		// A set takes q-1 hops around the ring and one to the comparer. Its common places take q hops back.
		p.cost.Rounds = 1 + (q - 1) + 1 + q + 2
	}
	return p.cost
}

// planner adds up the cost of a session.
type planner struct {
	core
	cost   protocol.Cost
	sets   func(party string) int
	common int
}

// exchange adds the messages that every party sends once to every other party, and those that it
// sends once to the comparer.
func (p *planner) exchange() {
	for _, from := range p.parties {
		for _, to := range p.parties {
			if to != from {
				p.cost.Send(from, to, roundAnnounce, kindAnnounce, announceBytes)
				p.cost.Send(from, to, roundConfirm, kindConfirm, ristretto.Size)
				p.cost.Send(from, to, roundProof, kindProof, sha256.Size)
				p.cost.Load(from, protocol.Load{Effort: protocol.Effort{Points: 2}})
			}
		}
		for _, comparer := range p.setup.Session.With(protocol.RoleServer) {
			p.cost.Send(from, comparer, roundAnnounce, kindCount, countBytes)
		}
	}
}

// elements adds the messages with the elements of a party's set, each of the given width.
func (p *planner) elements(from, to string, round uint16, kind string, owner, width int) {
	n := p.sets(p.parties[owner])
	p.cost.Add(protocol.Flow{From: from, To: to, Round: round, Kind: kind, Messages: chunks(n, p.sizing.elements), Bytes: int64(n) * int64(width)})
}

// blinds adds a party's work and memory for a set: one multiplication for each element, and the
// memory for the element and for two numbers of 4 bytes.
func (p *planner) blinds(party string, owner int) {
	n := p.sets(p.parties[owner])
	p.cost.Load(party, protocol.Load{Effort: protocol.Effort{Points: float64(n)}, Held: int64(n) * (ristretto.Size + 8)})
}

// pair adds the messages and the work for one set in a session of two parties.
func (p *planner) pair(owner int) {
	own, other := p.parties[owner], p.parties[p.around(owner, 1)]
	p.elements(own, other, roundBlind, kindBlinded, owner, ristretto.Size)
	p.elements(other, own, roundTokens, kindTokens, owner, tokenBytes)
	p.blinds(own, owner)
	p.blinds(other, owner)
}

// ring adds the messages and the work for one set in a session of three or more parties. The set
// goes around the ring to the comparer, and the places of its common elements go back to its owner.
func (p *planner) ring(owner int) {
	p.blinds(p.parties[owner], owner)
	last := p.around(owner, -1)
	for at := owner; at != last; at = p.around(at, 1) {
		next := p.around(at, 1)
		p.elements(p.parties[at], p.parties[next], roundBlind, kindBlinded, owner, ristretto.Size)
		p.blinds(p.parties[next], owner)
	}
	p.elements(p.parties[last], p.comparer(), roundTokens, kindTokens, owner, tokenBytes)
	p.cost.Load(p.comparer(), protocol.Load{Held: int64(p.sets(p.parties[owner])) * (tokenBytes + 8)})
	p.places(p.comparer(), p.parties[last])
	for at := last; at != owner; at = p.around(at, -1) {
		p.places(p.parties[at], p.parties[p.around(at, -1)])
	}
}

// places adds the messages with the places of the common elements of one set.
func (p *planner) places(from, to string) {
	n := chunks(p.common, p.sizing.positions)
	p.cost.Add(protocol.Flow{From: from, To: to, Round: roundCommon, Kind: kindCommon, Messages: n, Bytes: int64(countBytes) * int64(n+p.common)})
}
