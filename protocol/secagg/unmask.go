package secagg

import (
	"github.com/mercer-fl/mercer/protocol"
)

// receiveSurvivors learns whose vector is in the sum, and signs it or, against
// onlookers only, unmasks at once.
func (c *Client) receiveSurvivors(m protocol.Message) (protocol.Effects, error) {
	survivors, err := decodeSet(m.Body, c.params.clients)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	switch n := survivors.count(); {
	case !survivors.within(c.sharers) || !survivors.has(c.self):
		return protocol.Effects{}, inconsistent(m.Sender, "vectors of clients that have not shared, or all but the vector of the client it was sent to")
	case n < c.params.spec.Minimum:
		return protocol.Effects{}, inconsistent(m.Sender, "a sum of %d vectors, fewer than the agreed minimum of %d", n, c.params.spec.Minimum)
	case survivors.of(c.holders) < c.params.degree.Threshold:
		return protocol.Effects{}, inconsistent(m.Sender, "%d of this client's holders are left, fewer than the threshold of %d", survivors.of(c.holders), c.params.degree.Threshold)
	}
	c.survivors = survivors
	if c.params.spec.Adversary == SemiHonest {
		return c.unmask()
	}
	c.awaits = roundSignatures
	return c.answer(roundConsistency, c.identity.Sign(c.statement())), nil
}

func (c *Client) statement() []byte {
	return statement(c.setup.Session.ID(), c.cohort, c.sharers, c.survivors)
}

// receiveSignatures unmasks once a threshold of this client's holders have
// signed the same story: another story cannot find one too.
func (c *Client) receiveSignatures(m protocol.Message) (protocol.Effects, error) {
	list, err := decodeSignatures(m.Body, c.params.clients)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	holders := newSet(c.params.clients)
	for _, h := range c.holders {
		holders.add(h)
	}
	if agreeing := len(list); agreeing < c.params.degree.Threshold {
		return protocol.Effects{}, inconsistent(m.Sender, "%d of this client's holders agree on who is in the sum, fewer than the threshold of %d", agreeing, c.params.degree.Threshold)
	}
	told := c.statement()
	err = each(len(list), func(i int) error {
		switch s := list[i]; {
		case !holders.has(s.client) || !c.survivors.has(s.client):
			return inconsistent(m.Sender, "a signature of %s, who is no holder with a vector in the sum", c.name(s.client))
		case !c.verifySignature(s, told):
			return inconsistent(m.Sender, "%s has signed another story, or nothing", c.name(s.client))
		}
		return nil
	})
	if err != nil {
		return protocol.Effects{}, err
	}
	return c.unmask()
}

// unmask releases one share for each client that this one holds shares of, and
// ends: nothing more is ever released in this session.
func (c *Client) unmask() (protocol.Effects, error) {
	releases := make([]release, len(c.held))
	for i, h := range c.held {
		releases[i] = release{h.owner, h.mask}
		if c.survivors.has(h.owner) {
			releases[i].share = h.self
		}
	}
	send := []protocol.Message{c.message(c.server(), roundUnmask, encodeReleases(releases))}
	return protocol.Finish(protocol.Effects{Send: send}, nil)
}
