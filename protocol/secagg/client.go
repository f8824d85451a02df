package secagg

import (
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/shamir"
	"github.com/mercer-fl/mercer/protocol"
)

// Client contributes one vector. It learns who takes part, but not the sum.
type Client struct {
	core
	vector   Vector
	hash     [sha256.Size]byte // hash of the vector
	identity Identity
	self     int // this client's number among the clients
	secrets  *secrets
	own      keys

	awaits    uint16 // the round of the server's next message
	cohort    set    // U1: the clients that take part
	holders   []int  // the clients that hold shares of this client's secrets
	keys      map[int]keys
	sharers   set // U2: the clients that have shared their secrets
	held      []holding
	masks     []Mask // masks of the vector; nil before the client starts to send the vector, and after it has sent all
	sent      int    // number of chunks of the masked vector sent
	survivors set    // U3: the clients whose vectors are in the sum
}

// holding is the pair of shares that a client keeps for one client, the owner of the shares: another one or,
// in a complete graph, itself. Lists of holdings are in the order of the owners.
type holding struct {
	owner      int
	mask, self shamir.Share
}

// NewClient returns the machine of a client. If an entry of the vector is beyond the agreed bound, or
// below 0 in a group that is not signed, it returns a [*RangeError].
func NewClient(s protocol.Setup, p Params, v Vector, id Identity) (*Client, error) {
	d, err := newCore(s, p, protocol.RoleParty)
	if err != nil {
		return nil, err
	}
	c := &Client{core: d, vector: v, identity: id, awaits: roundCohort, keys: make(map[int]keys)}
	c.self, _ = c.clientOf(s.Self)
	if err := checkIdentities(id.Keys, p.clients); err != nil {
		return nil, err
	}
	if id.Sign == nil {
		return nil, errors.New("secagg: the client has no signing function; set Identity.Sign")
	}
	if c.secrets, err = newSecrets(s.Seed, s.Session.ID()); err != nil {
		return nil, err
	}
	c.hash, err = Hash(p, v)
	return c, err
}

// Hash returns the SHA-256 of the packed vector. The start event must hold this input hash.
func Hash(p Params, v Vector) ([sha256.Size]byte, error) {
	if list, is := v.(Ints); is {
		if err := list.check(p.layout.Groups); err != nil {
			return [sha256.Size]byte{}, err
		}
	}
	h := sha256.New()
	for i := range p.layout.chunks() {
		lo, hi := p.layout.chunk(i)
		words := make([]uint64, hi-lo)
		if err := p.layout.pack(v, lo, words); err != nil {
			return [sha256.Size]byte{}, err
		}
		h.Write(bytesOf(words))
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// bytesOf returns words encoded as bytes in wire format.
func bytesOf(words []uint64) []byte {
	var w wire.Writer
	w.Grow(8 * len(words))
	for _, v := range words {
		w.Uint64(v)
	}
	return w.Bytes()
}

// InputHash returns the hash of the vector, which [protocol.Start] requires.
func (c *Client) InputHash() [sha256.Size]byte { return c.hash }

// Survivors returns the names of the clients in the sum, as the server reported them, or nil before
// that report. Against active servers, the threshold number of this client's holders must also sign
// the list before the client unmasks.
func (c *Client) Survivors() []string {
	var names []string
	for _, i := range c.survivors.list() {
		names = append(names, c.name(i))
	}
	return names
}

// Step implements [protocol.Machine].
func (c *Client) Step(e protocol.Event) (protocol.Effects, error) {
	effects, err := c.life.Step(c.setup, e, protocol.Handlers{Start: c.start, Receive: c.receive, Resume: c.resume, Expire: c.expire})
	if effects.End != nil {
		c.setup.Seed, c.secrets, c.held, c.masks = [32]byte{}, nil, nil, nil
	}
	return effects, err
}

// start advertises the client's keys.
func (c *Client) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != c.hash {
		return protocol.Effects{}, errors.New("secagg: the vector has changed since the session started; restore it, or start a new session")
	}
	c.own = c.secrets.publicKeys(c.setup.Session.ID(), c.self, c.identity.Sign)
	c.keys[c.self] = c.own
	var w wire.Writer
	c.own.encode(&w)
	return c.answer(roundAdvertise, w.Bytes()), nil
}

// answer returns the effects that send a message to the server and then wait for the server's next
// message.
func (c *Client) answer(round uint16, body []byte) protocol.Effects {
	return protocol.Effects{
		Sync: true,
		Send: []protocol.Message{c.message(c.server(), round, body)},
		Arm:  []protocol.Timer{TimerServer},
	}
}

func (c *Client) receive(m protocol.Message) (protocol.Effects, error) {
	if err := c.checkHeader(m); err != nil {
		return protocol.Effects{}, err
	}
	if m.Sender != c.server() || m.Round != c.awaits || c.sending() {
		return protocol.Effects{}, m.Unexpected()
	}
	switch m.Round {
	case roundCohort:
		return c.receiveCohort(m)
	case roundHolderKeys:
		return c.receiveHolderKeys(m)
	case roundShares:
		return c.receiveShares(m)
	case roundSurvivors:
		return c.receiveSurvivors(m)
	case roundSignatures:
		return c.receiveSignatures(m)
	}
	return protocol.Effects{}, m.Unexpected()
}

// sending reports whether the client still has to send a part of its masked vector.
func (c *Client) sending() bool { return c.masks != nil }

func (c *Client) expire(t protocol.Timer) (protocol.Effects, error) {
	if t != TimerServer {
		return protocol.Effects{}, fmt.Errorf("secagg: a client has no timer %q", t)
	}
	if c.sending() {
		return protocol.Finish(protocol.Effects{}, silent(c.server(), "flow-control credit for the next piece of "+kindMasked))
	}
	return protocol.Finish(protocol.Effects{}, silent(c.server(), kindOf(c.awaits)))
}

// checkKeys verifies the keys of another client. They must not change during a session.
func (c *Client) checkKeys(m member) error {
	if old, known := c.keys[m.client]; known {
		if old != m.keys {
			return inconsistent(c.server(), "the server sent keys of %s that differ from those it sent before", c.name(m.client))
		}
		return nil
	}
	if err := m.keys.verify(c.setup.Session.ID(), m.client, c.identity.Keys[m.client]); err != nil {
		return inconsistent(c.server(), "%s: %w", c.name(m.client), err)
	}
	return nil
}

// verifySignature reports whether a client's signature of a statement is valid.
func (c *Client) verifySignature(s signature, statement []byte) bool {
	return ed25519.Verify(c.identity.Keys[s.client], statement, s.value[:])
}

// receiveSurvivors checks and stores the set of clients whose vectors are in the sum. Against
// active servers the client then signs the cohort, the sharers and the survivors that it received.
// Against semi-honest servers it releases its shares at once.
func (c *Client) receiveSurvivors(m protocol.Message) (protocol.Effects, error) {
	survivors, err := decodeSet(m.Body, c.params.clients)
	if err != nil {
		return protocol.Effects{}, m.Malformed(err)
	}
	switch n := survivors.count(); {
	case !survivors.within(c.sharers) || !survivors.has(c.self):
		return protocol.Effects{}, inconsistent(m.Sender, "the list of survivors includes clients that have not shared, or leaves out the client that receives it")
	case n < c.params.spec.Minimum:
		return protocol.Effects{}, inconsistent(m.Sender, "the sum has %d vectors; the agreed minimum is %d", n, c.params.spec.Minimum)
	case survivors.countIn(c.holders) < c.params.degree.Threshold:
		return protocol.Effects{}, inconsistent(m.Sender, "%d of this client's holders are left; the threshold is %d", survivors.countIn(c.holders), c.params.degree.Threshold)
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

// receiveSignatures checks the holders' signatures of the sets of clients, and then releases the
// shares that this client holds. The threshold number of this client's own holders must have signed
// the sets that this client received. The threshold is so high that no other version of the sets
// can reach it, too.
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
		return protocol.Effects{}, inconsistent(m.Sender, "%d of this client's holders have signed the sets of clients; the threshold is %d", agreeing, c.params.degree.Threshold)
	}
	told := c.statement()
	err = forAll(len(list), func(i int) error {
		switch s := list[i]; {
		case !holders.has(s.client) || !c.survivors.has(s.client):
			return inconsistent(m.Sender, "the server sent a signature of %s, which is not a holder of this client's shares with a vector in the sum", c.name(s.client))
		case !c.verifySignature(s, told):
			return inconsistent(m.Sender, "the signature of %s is not valid for the sets of clients that this client received", c.name(s.client))
		}
		return nil
	})
	if err != nil {
		return protocol.Effects{}, err
	}
	return c.unmask()
}

// unmask releases one share for each client whose shares this client holds, and ends the client's
// session. The client releases nothing more in this session.
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
