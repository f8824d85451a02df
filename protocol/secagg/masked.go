package secagg

import (
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// receiveShares stores the shares of other clients and the set of clients that have shared their
// secrets. It then starts to send the masked vector. From then on the client has contributed for
// this epoch and purpose, even if the session fails.
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
	if err := c.storeKeys(owners); err != nil {
		return protocol.Effects{}, err
	}
	held := c.openAll(d.list)
	masks, err := c.allMasks(d.sharers, owners)
	if err != nil {
		return protocol.Finish(protocol.Effects{}, err)
	}
	c.sharers, c.held, c.masks, c.awaits = d.sharers, held, masks, roundSurvivors
	c.keys = nil // the other clients' keys are no longer needed
	return protocol.Effects{Sync: true, Claim: []string{c.claim()}, Arm: []protocol.Timer{TimerServer}, Resume: true}, nil
}

// openAll decrypts the shares of all owners, and returns the shares whose decryption succeeds. It
// drops the other shares: if a failed decryption ended the session, any client could abort all
// others. The server notices the failure, because this client then releases no share of the owner.
// The client must not prove a failure, for example by revealing the key of the message. A server
// that had replaced the message could use the key to decrypt the original, and would have a share
// of both of the owner's secrets.
func (c *Client) openAll(list []delivery) []holding {
	opened := make([]*holding, len(list))
	linalg.For(len(list), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if h, err := c.openShares(list[i]); err == nil {
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

// checkSharers checks the set of clients that have shared their secrets, as the server reports it.
// The set must lie in the cohort, include this client, reach the agreed minimum, and include a
// threshold of this client's holders.
func (c *Client) checkSharers(d deliveries) error {
	switch n := d.sharers.count(); {
	case !d.sharers.within(c.cohort) || !d.sharers.has(c.self):
		return inconsistent(c.server(), "the list of clients that have shared includes clients outside the cohort, or leaves out the client that receives it")
	case n < c.params.spec.Minimum:
		return inconsistent(c.server(), "%d clients have shared; the agreed minimum is %d", n, c.params.spec.Minimum)
	case d.sharers.countIn(c.holders) < c.params.degree.Threshold:
		return inconsistent(c.server(), "%d of this client's holders are left; the threshold is %d", d.sharers.countIn(c.holders), c.params.degree.Threshold)
	}
	for _, item := range d.list {
		if !d.sharers.has(item.owner.client) {
			return inconsistent(c.server(), "the server sent shares of %s, which is not on the list of clients that have shared", c.name(item.owner.client))
		}
	}
	return nil
}

// claim returns the name under which the client's ledger records that it has sent this vector.
func (c *Client) claim() string { return Claim(c.params.spec.Epoch, c.setup.Session.Purpose) }

// Claim returns the name under which a client's ledger records that it has sent a vector for an
// epoch and purpose. The client sends no vector for the same epoch and purpose in any other
// session.
func Claim(epoch, purpose string) string {
	return fmt.Sprintf("secagg/masked-input/%q/%q", epoch, purpose)
}

// allMasks returns the masks of this client: one for each neighbour that has shared its secrets,
// and the self mask. Neighbours are the holders of this client's shares, and the owners of the
// shares that this client holds.
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
	return masks, forAll(len(others), func(i int) (err error) {
		if masks[i], err = pairMask(id, c.secrets.mask, c.self, others[i], c.keys[others[i]].mask); err != nil {
			return inconsistent(c.name(others[i]), "%w", err)
		}
		return nil
	})
}

// stepKeystream limits the bytes of keystream that one step expands, unless one chunk of a client's vector
// or one mask at the server takes more.
const stepKeystream = 256 << 20

// resume sends the next chunks of the masked vector.
func (c *Client) resume() (protocol.Effects, error) {
	if !c.sending() {
		return protocol.Effects{}, fmt.Errorf("secagg: the client was resumed, but it has nothing to send")
	}
	layout := c.params.layout
	pieces := max(1, min(protocol.MaxStepBytes, stepKeystream/len(c.masks))/protocol.MaxChunkBytes)
	var e protocol.Effects
	for range min(pieces, layout.chunks()-c.sent) {
		lo, hi := layout.chunk(c.sent)
		words := make([]uint64, hi-lo)
		if err := layout.pack(c.vector, lo, words); err != nil {
			return protocol.Finish(protocol.Effects{}, err) // the vector has changed since NewClient checked it
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
