package secagg

import (
	"slices"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/crypto/shamir"
	"github.com/mercer-fl/mercer/linalg"
	"github.com/mercer-fl/mercer/protocol"
)

// receiveCohort checks and stores the cohort, and draws this client's holders from it.
func (c *Client) receiveCohort(m protocol.Message) (protocol.Effects, error) {
	cohort, err := decodeSet(m.Body, c.params.clients)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if !cohort.has(c.self) {
		return protocol.Effects{}, inconsistent(m.Sender, "the cohort leaves out the client that receives it")
	}
	if n := cohort.count(); n < c.params.cohort {
		return protocol.Effects{}, inconsistent(m.Sender, "the cohort has %d clients; the agreed parameters require at least %d", n, c.params.cohort)
	}
	holders := c.params.holders(c.setup.Session.ID(), c.self, cohort, c.setup.Seed)
	if len(holders) < c.params.degree.Threshold {
		return protocol.Effects{}, inconsistent(m.Sender, "the cohort gives this client %d holders; the threshold is %d", len(holders), c.params.degree.Threshold)
	}
	c.cohort, c.holders, c.awaits = cohort, holders, roundHolderKeys
	return c.answer(roundHolders, encodeClients(holders)), nil
}

// receiveHolderKeys checks the holders' keys and sends each holder its shares of this client's
// secrets.
func (c *Client) receiveHolderKeys(m protocol.Message) (protocol.Effects, error) {
	list, err := decodeMembers(m.Body, c.params.clients)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	if !slices.EqualFunc(list, c.holders, func(m member, holder int) bool { return m.client == holder }) {
		return protocol.Effects{}, inconsistent(m.Sender, "the server sent keys of clients that are not the holders this client named")
	}
	shares, err := c.splitSecrets(list)
	if err != nil {
		return protocol.Effects{}, inconsistent(m.Sender, "%w", err)
	}
	if err := c.storeKeys(list); err != nil {
		return protocol.Effects{}, err
	}
	c.awaits = roundShares
	return c.answer(roundShare, encodeShares(shares)), nil
}

// storeKeys checks the keys of all listed clients, and stores them only if all are valid.
func (c *Client) storeKeys(list []member) error {
	if err := forAll(len(list), func(i int) error { return c.checkKeys(list[i]) }); err != nil {
		return err
	}
	users := make(map[[keyBytes]byte]int)
	for client, k := range c.keys {
		users[k.encryption], users[k.mask] = client, client
	}
	for _, m := range list {
		for _, key := range [][keyBytes]byte{m.keys.encryption, m.keys.mask} {
			if other, used := users[key]; used && other != m.client {
				return inconsistent(c.server(), "%s and %s have the same key", c.name(m.client), c.name(other))
			}
			users[key] = m.client
		}
	}
	for _, m := range list {
		c.keys[m.client] = m.keys
	}
	return nil
}

// forAll calls the function f for all numbers from 0 to n-1, on all cores. If several calls fail,
// it returns the error of the call with the lowest number.
func forAll(n int, f func(i int) error) error {
	errs := make([]error, n)
	linalg.Each(n, 1, func(i int) {
		errs[i] = f(i)
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// splitSecrets splits both secrets of this client into shares, and encrypts a pair of shares for
// each holder. A holder's point is its place in the list, counted from 1.
func (c *Client) splitSecrets(holders []member) ([]sealed, error) {
	points := pointsOf(len(holders))
	t := c.params.degree.Threshold
	mask, err := shamir.Split(c.secrets.maskSeed, t, points, prg.New(c.secrets.shares, "secagg/shamir/mask", number(t)))
	if err != nil {
		return nil, err
	}
	self, err := shamir.Split(c.secrets.self, t, points, prg.New(c.secrets.shares, "secagg/shamir/self", number(t)))
	if err != nil {
		return nil, err
	}
	out := make([]sealed, len(holders))
	return out, forAll(len(holders), func(i int) (err error) {
		out[i], err = c.seal(holders[i], mask[i], self[i])
		return err
	})
}

func pointsOf(holders int) []uint16 {
	points := make([]uint16, holders)
	for i := range points {
		points[i] = uint16(i + 1)
	}
	return points
}

// seal encrypts a pair of shares for one holder. Key and associated data depend on the session, the
// sender and the receiver.
func (c *Client) seal(to member, mask, self shamir.Share) (sealed, error) {
	aead, err := sealer(c.setup.Session.ID(), c.secrets.encryption, c.self, to.client, to.keys.encryption)
	if err != nil {
		return sealed{}, err
	}
	plain := slices.Concat(mask[:], self[:])
	nonce := make([]byte, aead.NonceSize()) // a zero nonce is safe, because the key encrypts only this message
	return sealed(aead.Seal(nil, nonce, plain, shareData(c.setup.Session.ID(), c.self, to.client))), nil
}

func shareData(id protocol.SessionID, from, to int) []byte {
	var w wire.Writer
	w.String("mercer/v1/secagg/share")
	w.Fixed(id[:])
	w.Uint32(uint32(from))
	w.Uint32(uint32(to))
	return w.Bytes()
}

// openShares decrypts the shares that an owner has sent to this client.
func (c *Client) openShares(d delivery) (holding, error) {
	from := d.owner
	aead, err := sealer(c.setup.Session.ID(), c.secrets.encryption, from.client, c.self, from.keys.encryption)
	if err != nil {
		return holding{}, err
	}
	plain, err := aead.Open(nil, make([]byte, aead.NonceSize()), d.sealed[:], shareData(c.setup.Session.ID(), from.client, c.self))
	if err != nil {
		return holding{}, err
	}
	return holding{from.client, shamir.Share(plain[:shamir.Size]), shamir.Share(plain[shamir.Size:])}, nil
}
