package psi

import (
	"github.com/mercer-fl/mercer/protocol"
)

// Two parties compare by themselves. Round 3, Tokens: each multiplies the
// other's elements and returns them in the order in which they came, so that
// the owner knows its rows again. Each then holds the tokens of both sets.

// pair is the course of a set between two.
type pair struct {
	party  *Party
	other  int   // index of the other party
	mine   *list // tokens of the party's own set, which the other returns
	theirs *list // tokens of the other's set; nil until it is announced
	common []int
}

func (c *pair) announced(_, n int) { c.theirs = newList(n, tokenBytes, c.party.sizing.elements) }

func (c *pair) set(int) *list { return c.theirs }

func (c *pair) put(owner, chunk int, elements []byte) protocol.Effects {
	short := tokens(elements)
	c.theirs.put(chunk, short)
	m := c.party.message(c.party.parties[owner], roundTokens, kindTokens, owner, chunk, len(c.theirs.have), short)
	return protocol.Effects{Sync: true, Send: []protocol.Message{m}}
}

func (c *pair) receive(m protocol.Message) (protocol.Effects, error) {
	p := c.party
	if m.Round != roundTokens || m.Kind != kindTokens || m.Sender != p.parties[c.other] || int(m.Sequence) != p.self || int(m.Chunk) >= p.own.sent {
		return protocol.Effects{}, m.Unexpected()
	}
	if err := c.mine.check(m, tokenBytes); err != nil {
		return protocol.Effects{}, err
	}
	c.mine.put(int(m.Chunk), m.Body)
	return protocol.Effects{}, nil
}

func (c *pair) busy() bool {
	return c.common == nil && c.mine.complete() && c.theirs != nil && c.theirs.complete()
}

// resume sorts one list, or compares both.
func (c *pair) resume() (protocol.Effects, error) {
	p := c.party
	switch {
	case c.mine.order == nil:
		return c.sort(c.mine, p.self)
	case c.theirs.order == nil:
		return c.sort(c.theirs, c.other)
	}
	ranks := intersect([]*list{c.mine, c.theirs})[0]
	if len(ranks) == 0 {
		return end(&EmptyError{Parties: p.parties, Sizes: p.sizes()})
	}
	c.common = make([]int, len(ranks))
	for i, rank := range ranks {
		c.common[i] = int(p.own.shuffle[c.mine.order[rank]])
	}
	return protocol.Effects{}, nil
}

func (c *pair) sort(l *list, owner int) (protocol.Effects, error) {
	if !l.sort() {
		return end(repeated(c.party.parties[c.other], c.party.parties[owner]))
	}
	return protocol.Effects{}, nil
}

func (c *pair) debtor() (name, what string) {
	switch name = c.party.parties[c.other]; {
	case !c.theirs.complete():
		return name, "its blinded set"
	case c.party.own.sent == c.party.own.total && !c.mine.complete():
		return name, "the own set, blinded again,"
	}
	return "", ""
}

func (c *pair) rows() []int { return c.common }
