package psi

import (
	"github.com/mercer-fl/mercer/internal/crypto/ristretto"
	"github.com/mercer-fl/mercer/protocol"
)

// Three or more parties form a ring. Each set passes through all parties other than its owner. Each
// of these parties multiplies the set's elements by its own key and shuffles them. The last of
// these parties sends the set to the comparer (round 3, Tokens). The comparer finds the common
// tokens and sends their places in the set back the same way (round 4, Common). On this way each
// party undoes its own shuffle, until the owner has the common rows.

// ring is the state of an exchange of sets among three or more parties.
type ring struct {
	party  *Party
	relays []relay // one relay for each party's set; the relay of the party's own set uses only order and trace
	common []int   // the party's own common rows that have arrived
	total  int     // number of common rows, equal for all sets; 0 before it is received
}

// relay holds a set that this party blinds, reorders and passes on.
type relay struct {
	set   *list    // elements of the set; nil before the set is announced and after it is passed on
	order []uint32 // order[i] is the arrival position of the element that is now at position i
	sent  int      // number of chunks sent
	trace trace
}

func (c *ring) announced(owner, n int) {
	c.relays[owner].set = newList(n, ristretto.Size, c.party.sizing.elements)
}

func (c *ring) blindedSet(owner int) *list { return c.relays[owner].set }

func (c *ring) put(owner, chunk int, elements []byte) protocol.Effects {
	c.relays[owner].set.put(chunk, elements)
	return protocol.Effects{}
}

func (r *relay) ready() bool { return r.set != nil && r.set.complete() }

func (c *ring) busy() bool { return c.next() >= 0 }

// next returns the owner of a set that is complete and not yet passed on, or -1.
func (c *ring) next() int {
	for owner := range c.relays {
		if c.relays[owner].ready() {
			return owner
		}
	}
	return -1
}

// resume sorts a set, or passes on some of its chunks.
func (c *ring) resume() (protocol.Effects, error) {
	owner := c.next()
	r := &c.relays[owner]
	if r.order == nil {
		if !r.set.sort() {
			p := c.party
			return end(repeated(p.parties[p.around(p.self, -1)], p.parties[owner]))
		}
		r.order = r.set.order
		return protocol.Effects{}, nil
	}
	eff := protocol.Effects{Sync: true}
	total := len(r.set.have)
	for range min(c.party.sizing.messages, total-r.sent) {
		eff.Send = append(eff.Send, c.pass(owner, r.sent))
		r.sent++
	}
	if r.sent == total {
		r.set = nil
	}
	return eff, nil
}

// pass returns the message that forwards chunk i of a shuffled set. The receiver is the next party
// or, if all parties have blinded the set, the comparer.
func (c *ring) pass(owner, i int) protocol.Message {
	p, set := c.party, c.relays[owner].set
	lo, hi := set.span(i)
	var body []byte
	for rank := lo; rank < hi; rank++ {
		body = append(body, set.at(rank)...)
	}
	to := p.around(p.self, 1)
	if to == owner {
		return p.message(p.comparer(), roundTokens, kindTokens, owner, i, len(set.have), tokensOf(body))
	}
	return p.message(p.parties[to], roundBlind, kindBlinded, owner, i, len(set.have), body)
}

// comparer returns the name of the session's server, which compares the sets.
func (d *core) comparer() string { return d.setup.Session.With(protocol.RoleServer)[0] }

func (c *ring) debtor() (name, what string) {
	p := c.party
	for owner := range c.relays {
		if r := &c.relays[owner]; r.set != nil && !r.set.complete() {
			return p.parties[p.around(p.self, -1)], "the blinded set of " + p.parties[owner]
		}
	}
	if c.next() >= 0 || p.own.sent < p.own.total {
		return "", ""
	}
	for owner := range c.relays {
		if !c.relays[owner].trace.complete() {
			return c.tracer(owner), "the common rows of " + p.parties[owner]
		}
	}
	return "", ""
}
