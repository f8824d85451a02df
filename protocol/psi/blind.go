package psi

import (
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/crypto/ristretto"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// In round 2, Blinded, an id x becomes the group element k H(x), where k is the party's secret for
// this session and H hashes to the group. The element goes to the next party, which multiplies it
// by a secret of its own. Of an id, parties send only elements and their first bytes, the token. Therefore
// nobody can compute the element of a guessed id without the secrets of all parties that have multiplied it.

// share is the number of elements that one core processes at a time. The encoding of all these
// elements takes one inversion.
const share = 64

// suite is the name of the hash suite of RFC 9380, with which every domain-separation string ends.
const suite = "/ristretto255_XMD:SHA-512_R255MAP_RO_"

// domainOf returns the domain-separation string for a hash to the group. The string differs between
// sessions and purposes.
func domainOf(s protocol.SessionID, purpose string) string {
	return "mercer/v1/psi/" + purpose + "/" + string(s[:]) + suite
}

// newKey draws a party's secret scalar.
func newKey(s protocol.Setup, label string, parts ...[]byte) *ristretto.Key {
	id := s.Session.ID()
	var uniform [64]byte
	if _, err := prg.New(s.Seed, label, append([][]byte{id[:]}, parts...)...).Read(uniform[:]); err != nil {
		panic("psi: " + err.Error()) // never happens, because the random stream has no end
	}
	return ristretto.NewKey(&uniform)
}

// blindIDs hashes n ids to the group, multiplies the elements by the key k and writes them to dst.
func blindIDs(k *ristretto.Key, domain string, dst []byte, n int, id func(int) []byte) {
	linalg.For(n, share, func(lo, hi int) {
		elements := make([]ristretto.Element, hi-lo)
		for i := range elements {
			elements[i] = ristretto.Hash(domain, id(lo+i))
		}
		k.Multiply(dst[lo*ristretto.Size:], elements)
	})
}

// reblind multiplies another party's blinded elements, which body encodes, by k. It returns an error
// if some bytes of body encode no element or the identity.
func reblind(k *ristretto.Key, body []byte) ([]byte, error) {
	n := len(body) / ristretto.Size
	dst, refused := make([]byte, len(body)), make([]error, chunks(n, share))
	linalg.For(n, share, func(lo, hi int) {
		elements := make([]ristretto.Element, hi-lo)
		for i := range elements {
			var err error
			if elements[i], err = ristretto.Decode(body[(lo+i)*ristretto.Size : (lo+i+1)*ristretto.Size]); err != nil {
				refused[lo/share] = err
				return
			}
		}
		k.Multiply(dst[lo*ristretto.Size:], elements)
	})
	for _, err := range refused {
		if err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// tokenBytes is the length of a token in bytes. A token is the start of the encoding of an element
// that all parties have blinded; its lowest bit is always 0. All of 2^25 tokens differ, except with
// probability 2^-78.
const tokenBytes = 16

// tokensOf returns the tokens of elements that all parties have blinded.
func tokensOf(elements []byte) []byte {
	n := len(elements) / ristretto.Size
	short := make([]byte, 0, n*tokenBytes)
	for i := range n {
		short = append(short, elements[i*ristretto.Size:i*ristretto.Size+tokenBytes]...)
	}
	return short
}

// ownSet is a party's own set, which the party blinds in a secret order.
type ownSet struct {
	shuffle []uint32 // index of the row at each position of the blinded set
	sent    int      // number of chunks sent
	total   int      // number of chunks of the set
}

// blindOwn sends the next chunk of the party's own set to the next party.
func (p *Party) blindOwn() protocol.Effects {
	lo := p.own.sent * p.sizing.elements
	rows := p.own.shuffle[lo:min(lo+p.sizing.elements, len(p.ids))]
	body := make([]byte, len(rows)*ristretto.Size)
	blindIDs(p.key, domainOf(p.setup.Session.ID(), "id"), body, len(rows), func(i int) []byte { return p.ids[rows[i]] })
	m := p.message(p.parties[p.around(p.self, 1)], roundBlind, kindBlinded, p.self, p.own.sent, p.own.total, body)
	p.own.sent++
	p.done += len(rows)
	return protocol.Effects{Send: []protocol.Message{m}, Progress: p.progress()}
}

// takeBlinded blinds a chunk of another party's set, which the previous party in the ring has sent.
func (p *Party) takeBlinded(m protocol.Message) (protocol.Effects, error) {
	owner := int(m.Sequence)
	if m.Sender != p.parties[p.around(p.self, -1)] || owner >= len(p.parties) || owner == p.self {
		return protocol.Effects{}, m.Unexpected()
	}
	if p.peers[owner].count == 0 {
		return protocol.Effects{}, protocol.ErrLater
	}
	set := p.exchange.blindedSet(owner)
	if set == nil {
		return protocol.Effects{}, m.Unexpected()
	}
	if err := set.check(m, ristretto.Size); err != nil {
		return protocol.Effects{}, err
	}
	elements, err := reblind(p.key, m.Body)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	eff := p.exchange.put(owner, int(m.Chunk), elements)
	p.done += len(elements) / ristretto.Size
	eff.Progress = p.progress()
	return eff, nil
}

// In a session of two parties, the parties compare their sets without a server. In round 3, Tokens,
// each party multiplies the other's elements and returns their tokens in the order of arrival, so
// that the owner can match them with its rows. Each party then holds the tokens of both sets.

// pair is the state of an exchange of sets between two parties.
type pair struct {
	party  *Party
	other  int   // index of the other party
	mine   *list // tokens of the party's own set, which the other party computes
	theirs *list // tokens of the other party's set; nil before its size is announced
	common []int
}

func (c *pair) announced(_, n int) { c.theirs = newList(n, tokenBytes, c.party.sizing.elements) }

func (c *pair) blindedSet(int) *list { return c.theirs }

func (c *pair) put(owner, chunk int, elements []byte) protocol.Effects {
	short := tokensOf(elements)
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

// resume sorts one list of tokens, or compares both lists.
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
		return name, "the party's own set, blinded again,"
	}
	return "", ""
}

func (c *pair) rows() []int { return c.common }
