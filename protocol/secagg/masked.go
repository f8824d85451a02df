package secagg

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// receiveShares takes the shares of others, learns who has shared, and begins
// to send the masked vector. From here on the client has contributed for this
// epoch and purpose, whatever becomes of the session.
func (c *Client) receiveShares(m protocol.Message) (protocol.Effects, error) {
	d, err := decodeDeliveries(m.Body, c.params.clients)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if err := c.checkSharers(d); err != nil {
		return protocol.Effects{}, err
	}
	owners := make([]member, len(d.list))
	for i, item := range d.list {
		owners[i] = item.owner
	}
	if err := c.admit(owners); err != nil {
		return protocol.Effects{}, err
	}
	held := c.openAll(d.list)
	masks, err := c.allMasks(d.sharers, owners)
	if err != nil {
		return protocol.Finish(protocol.Effects{}, err)
	}
	c.sharers, c.held, c.masks, c.awaits = d.sharers, held, masks, roundSurvivors
	c.keys = nil // they have served
	return protocol.Effects{Sync: true, Claim: []string{c.claim()}, Arm: []protocol.Timer{TimerServer}, Resume: true}, nil
}

// openAll returns what it holds of those whose shares open. Somebody has changed the
// others: who would end because of them could be made to by anybody who shares. That
// they are not held the server sees when it gets none of them back. Nothing is shown
// to prove it, such as the key of that message: a server that has put another message
// in its place would open with it the one that it has kept back, and have a share of
// both secrets.
func (c *Client) openAll(list []delivery) []holding {
	opened := make([]*holding, len(list))
	linalg.For(len(list), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if h, err := c.open(list[i]); err == nil {
				opened[i] = &h
			}
		}
	})
	var held []holding
	for _, h := range opened {
		if h != nil {
			held = append(held, *h)
		}
	}
	return held
}

// checkSharers refuses a story about who has shared that leaves the client
// without a threshold of its holders.
func (c *Client) checkSharers(d deliveries) error {
	switch n := d.sharers.count(); {
	case !d.sharers.within(c.cohort) || !d.sharers.has(c.self):
		return inconsistent(c.server(), "clients that share without having been in the cohort, or all but the one it was sent to")
	case n < c.params.spec.Minimum:
		return inconsistent(c.server(), "%d clients that share, fewer than the agreed minimum of %d", n, c.params.spec.Minimum)
	case d.sharers.of(c.holders) < c.params.degree.Threshold:
		return inconsistent(c.server(), "%d of this client's holders are left, fewer than the threshold of %d", d.sharers.of(c.holders), c.params.degree.Threshold)
	}
	for _, item := range d.list {
		if !d.sharers.has(item.owner.client) {
			return inconsistent(c.server(), "shares of %s, who has not shared", c.name(item.owner.client))
		}
	}
	return nil
}

// claim is held once, permanently, in the client's ledger.
func (c *Client) claim() string { return Claim(c.params.spec.Epoch, c.setup.Session.Purpose) }

// Claim returns the name under which a client's ledger notes that it has sent a vector
// of an epoch and purpose: no other session gets one.
func Claim(epoch, purpose string) string {
	return fmt.Sprintf("secagg/masked-input/%q/%q", epoch, purpose)
}

// allMasks agrees on a mask with every neighbour that has shared, those that
// this client holds shares of and those that hold its own, and adds the self
// mask.
func (c *Client) allMasks(sharers set, owners []member) ([]Mask, error) {
	neighbours := newSet(c.params.clients)
	for _, h := range c.holders {
		neighbours.add(h)
	}
	for _, o := range owners {
		neighbours.add(o.client)
	}
	others := slices.DeleteFunc(neighbours.list(), func(i int) bool { return i == c.self || !sharers.has(i) })
	id := c.setup.Session.ID()
	masks := make([]Mask, len(others)+1)
	masks[len(others)] = selfMask(id, c.secrets.self)
	return masks, each(len(others), func(i int) (err error) {
		if masks[i], err = pairMask(id, c.secrets.mask, c.self, others[i], c.keys[others[i]].mask); err != nil {
			return inconsistent(c.name(others[i]), "%w", err)
		}
		return nil
	})
}

// stepKeystream bounds the keystream that one step expands, in bytes.
const stepKeystream = 256 << 20

// resume sends the next pieces of the masked vector.
func (c *Client) resume() (protocol.Effects, error) {
	if !c.sending() {
		return protocol.Effects{}, fmt.Errorf("secagg: resumed with nothing left to send")
	}
	layout := c.params.layout
	pieces := max(1, min(protocol.MaxStepBytes, stepKeystream/len(c.masks))/protocol.MaxChunkBytes)
	var e protocol.Effects
	for range min(pieces, layout.chunks()-c.sent) {
		lo, hi := layout.chunk(c.sent)
		words := make([]uint64, hi-lo)
		if err := layout.pack(c.vector, lo, words); err != nil {
			return protocol.Finish(protocol.Effects{}, err) // the vector has changed since it was checked
		}
		c.params.masker.Add(words, lo, c.masks)
		e.Send = append(e.Send, c.message(c.server(), roundMasked, bytesOf(words)).Piece(c.sent, layout.chunks()))
		c.sent++
	}
	if c.sent == layout.chunks() {
		c.masks = nil
	}
	e.Progress = protocol.Progress{Stage: "mask", Done: int64(c.sent), Total: int64(layout.chunks())}
	e.Resume, e.Arm = c.sending(), []protocol.Timer{TimerServer}
	return e, nil
}
