package psi

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/crypto/ristretto"
	"github.com/mercer-fl/mercer/protocol"
)

// Party is the machine of a party. It holds a set of ids and learns which of them all parties have.
type Party struct {
	core
	ids      [][]byte
	hash     [sha256.Size]byte // hash of ids
	self     int               // index of this party in core.parties
	key      *ristretto.Key
	own      ownSet
	peers    []peer // state of each party, by index; includes the party itself
	exchange exchange
	done     int // number of elements multiplied so far
	// result holds the session's results after arrange.
	result result
}

// exchange is the way in which parties exchange sets. Two parties send their sets to each other.
// Three or more parties send their sets around a ring to the comparer.
type exchange interface {
	// announced allocates memory for the n elements of a party's set.
	announced(owner, n int)
	// blindedSet returns the list of another party's elements, which this party has blinded, or, of
	// two parties, their tokens. The list is nil before the owner announces the set and, in a ring,
	// after this party passes it on.
	blindedSet(owner int) *list
	// put stores a chunk of another party's set, which this party has blinded.
	put(owner, chunk int, elements []byte) protocol.Effects
	// receive accepts the messages that only this kind of exchange has.
	receive(protocol.Message) (protocol.Effects, error)
	// busy reports whether resume has work to do.
	busy() bool
	resume() (protocol.Effects, error)
	// debtor returns the member whose message is missing and a description of the message. Both
	// are "" if none is missing, or if this party's own work comes first.
	debtor() (name, what string)
	// rows returns the common rows in an order that all parties share. It returns nil before the
	// common rows are known.
	rows() []int
}

// NewParty returns the machine of a party. The slice ids, which the machine keeps, holds the id of
// each row of the party's table. Missing, too long or repeated ids are an [IDError].
func NewParty(s protocol.Setup, p Params, ids [][]byte) (*Party, error) {
	return newParty(s, p, ids, bulk())
}

func newParty(s protocol.Setup, p Params, ids [][]byte, size sizing) (*Party, error) {
	d, err := newCore(s, p, size, protocol.RoleParty, protocol.RoleLeader)
	if err != nil {
		return nil, err
	}
	if err := checkIDs(ids, p); err != nil {
		return nil, err
	}
	party := &Party{
		core: d, ids: ids, hash: hashIDs(ids), self: d.index(s.Self), key: newKey(s, "psi/key"),
		own: newOwn(s, len(ids), size.elements), peers: make([]peer, len(d.parties)),
	}
	party.peers[party.self] = peer{count: len(ids), part: newPart(s)}
	if len(d.parties) == 2 {
		party.exchange = newPair(party)
	} else {
		party.exchange = newRing(party)
	}
	return party, nil
}

// checkIDs returns an error if the number of ids is wrong, or if an id is missing, too long or
// repeated.
func checkIDs(ids [][]byte, p Params) error {
	if len(ids) == 0 || len(ids) > p.spec.MaxIDs {
		return fmt.Errorf("psi: the table has %d ids; the session allows 1 to %d", len(ids), p.spec.MaxIDs)
	}
	for i, id := range ids {
		if len(id) == 0 {
			return &IDError{Rows: []int{i}, why: fmt.Sprintf("row %d has no id; give each row its own id", i+1)}
		}
		if len(id) > MaxIDBytes {
			return &IDError{Rows: []int{i}, why: fmt.Sprintf("row %d has an id of %d bytes; use at most %d", i+1, len(id), MaxIDBytes)}
		}
	}
	return checkDistinct(ids)
}

// hashIDs returns the hash of a party's ids for protocol.Start.InputHash.
func hashIDs(ids [][]byte) (sum [sha256.Size]byte) {
	var w wire.Writer
	w.String("mercer/v1/psi/ids")
	w.Uint64(uint64(len(ids)))
	h := sha256.New()
	h.Write(w.Bytes())
	for _, id := range ids {
		writeID(h, id)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func newOwn(s protocol.Setup, rows, each int) ownSet {
	id := s.Session.ID()
	return ownSet{shuffle: prg.New(s.Seed, "psi/shuffle", id[:]).Perm32(rows), total: chunks(rows, each)}
}

func newPair(p *Party) *pair {
	return &pair{party: p, other: 1 - p.self, mine: newList(len(p.ids), tokenBytes, p.sizing.elements)}
}

// newPart draws a party's part of the common key.
func newPart(s protocol.Setup) [32]byte {
	id := s.Session.ID()
	return prg.Derive(s.Seed, "psi/part", id[:])
}

func newRing(p *Party) *ring {
	c := &ring{party: p, relays: make([]relay, len(p.parties))}
	c.relays[p.self].order = p.own.shuffle
	return c
}

// InputHash returns the hash of the ids for [protocol.Start].
func (p *Party) InputHash() [sha256.Size]byte { return p.hash }

// Step implements [protocol.Machine].
func (p *Party) Step(e protocol.Event) (protocol.Effects, error) { return p.step(p, e) }

func (p *Party) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != p.hash {
		return protocol.Effects{}, errors.New("psi: the ids have changed since the session started; restore them or start a new job")
	}
	return protocol.Effects{Sync: true, Send: p.announce()}, nil
}

func (p *Party) receive(m protocol.Message) (protocol.Effects, error) {
	switch {
	case m.Round == roundAnnounce && m.Kind == kindAnnounce:
		return p.takeAnnounce(m)
	case m.Round == roundBlind && m.Kind == kindBlinded:
		return p.takeBlinded(m)
	case m.Round == roundConfirm && m.Kind == kindConfirm:
		return p.takeConfirm(m)
	case m.Round == roundProof && m.Kind == kindProof:
		return p.takeProof(m)
	}
	return p.exchange.receive(m)
}

func (p *Party) busy() bool {
	return p.own.sent < p.own.total || p.exchange.busy() || p.result.order == nil && p.exchange.rows() != nil
}

// resume does one step of the party's work. It blinds the party's own set first, because other
// parties wait for it.
func (p *Party) resume() (protocol.Effects, error) {
	switch {
	case p.own.sent < p.own.total:
		return p.blindOwn(), nil
	case p.exchange.busy():
		return p.exchange.resume()
	case p.busy():
		return p.arrange()
	}
	return protocol.Effects{}, errIdle
}

// debtor implements [machine]. It searches the rounds in order, beginning with the round in which
// parties announce the sizes of their sets.
func (p *Party) debtor() (name, what string) {
	for i, peer := range p.peers {
		if peer.count == 0 {
			return p.parties[i], "the size of its set"
		}
	}
	if name, what = p.exchange.debtor(); name != "" || p.result.order == nil {
		return name, what
	}
	for i := range p.peers {
		if i != p.self && !p.peers[i].confirm.done {
			return p.parties[i], "the proof that its rows are in the common order"
		}
	}
	return "", ""
}

func (p *Party) progress() protocol.Progress {
	total := 0
	for _, peer := range p.peers {
		total += peer.count
	}
	return protocol.Progress{Stage: "blind", Done: int64(p.done), Total: int64(total)}
}

// Announced returns the number of ids that each other party has announced. It omits parties
// that have not announced yet.
func (p *Party) Announced() map[string]int {
	sizes := make(map[string]int)
	for i, peer := range p.peers {
		if i != p.self && peer.count > 0 {
			sizes[p.parties[i]] = peer.count
		}
	}
	return sizes
}

// sizes returns the number of ids of each party.
func (p *Party) sizes() []int {
	sizes := make([]int, len(p.peers))
	for i := range p.peers {
		sizes[i] = p.peers[i].count
	}
	return sizes
}

// In round 1, Announce, a party sends the size of its set and its part of the common key to all
// other parties. It sends only the size to the comparer.

const (
	countBytes    = 4
	announceBytes = countBytes + sha256.Size
)

// peer holds what a party knows about another party or itself.
type peer struct {
	count   int // number of ids; 0 before the party's announcement
	part    [32]byte
	confirm confirmation
}

func (p *Party) announce() []protocol.Message {
	var w wire.Writer
	w.Uint32(uint32(len(p.ids)))
	w.Fixed(p.peers[p.self].part[:])
	var sends []protocol.Message
	for i, name := range p.parties {
		if i != p.self {
			sends = append(sends, p.setup.Message(name, roundAnnounce, kindAnnounce, slices.Clone(w.Bytes())))
		}
	}
	for _, comparer := range p.setup.Session.With(protocol.RoleServer) {
		sends = append(sends, p.setup.Message(comparer, roundAnnounce, kindCount, slices.Clone(w.Bytes()[:countBytes])))
	}
	return sends
}

func (p *Party) takeAnnounce(m protocol.Message) (protocol.Effects, error) {
	i := p.index(m.Sender)
	if i < 0 || p.peers[i].count > 0 {
		return protocol.Effects{}, m.Unexpected()
	}
	n, err := p.count(m, announceBytes)
	if err != nil {
		return protocol.Effects{}, err
	}
	p.peers[i].count, p.peers[i].part = n, [32]byte(m.Body[countBytes:])
	p.exchange.announced(i, n)
	return protocol.Effects{Progress: p.progress()}, nil
}

// count decodes the number of elements of a set from the start of a message. The message must have
// the given number of bytes.
func (d *core) count(m protocol.Message, bytes int) (int, error) {
	if err := single(m, bytes); err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint32(m.Body)
	if n < 1 || int64(n) > int64(d.params.spec.MaxIDs) {
		return 0, m.Malformed(fmt.Errorf("psi: the set has %d ids; the session allows 1 to %d", n, d.params.spec.MaxIDs))
	}
	return int(n), nil
}

// result holds what a party learns in a session.
type result struct {
	order     []int
	key       [32]byte
	alignment [32]byte
}

// Order returns the indices of the party's common rows in the order that all parties share. Entry i
// is the index of the row of this party's table that has the i-th common id.
func (p *Party) Order() []int { return p.result.order }

// Key returns the secret key that all parties share. The comparer does not know it.
func (p *Party) Key() [32]byte { return p.result.key }

// Alignment returns a commitment to the ids of the common rows in the order that all parties share.
// Once the session has ended well, all parties have proved to each other that they have the same
// commitment. The commitment can be public, because it reveals nothing to anyone without the key.
func (p *Party) Alignment() [32]byte { return p.result.alignment }

// Align returns a commitment to the ids of some rows of a table in a given order. The commitment is
// the HMAC-SHA256, under the parties' common key, of the number of rows and the ids. If a party
// computes another commitment than the agreed one, its rows or their order have changed.
func Align(key [32]byte, ids [][]byte, order []int) [32]byte {
	var w wire.Writer
	w.String("mercer/v1/psi/alignment")
	w.Uint64(uint64(len(order)))
	h := hmac.New(sha256.New, key[:])
	h.Write(w.Bytes())
	for _, row := range order {
		writeID(h, ids[row])
	}
	return [32]byte(h.Sum(nil))
}

// commonKey hashes the parts of all parties to one key. The key stays secret from everybody but the
// parties, even if only one party draws its part at random.
func (p *Party) commonKey() [32]byte {
	id := p.setup.Session.ID()
	var w wire.Writer
	w.String("mercer/v1/psi/key")
	w.Fixed(id[:])
	for _, peer := range p.peers {
		w.Fixed(peer.part[:])
	}
	return sha256.Sum256(w.Bytes())
}

// arrange shuffles the common rows by the common key, so that the comparer does not know which row
// is which. Afterwards arrange starts the proof that all parties have the same order.
func (p *Party) arrange() (protocol.Effects, error) {
	rows, key := p.exchange.rows(), p.commonKey()
	order := make([]int, len(rows))
	for i, j := range prg.New(key, "psi/order").Perm32(len(rows)) {
		order[i] = rows[j]
	}
	p.result = result{order: order, key: key, alignment: Align(key, p.ids, order)}
	return p.confirm()
}

// conclude ends the session once every other party has sent its proof.
func (p *Party) conclude() (protocol.Effects, error) {
	var odd []string
	for i := range p.peers {
		switch c := &p.peers[i].confirm; {
		case i == p.self:
		case !c.done:
			return protocol.Effects{}, nil
		case !c.agrees:
			odd = append(odd, p.parties[i])
		}
	}
	switch {
	case odd == nil:
		return protocol.Finish(protocol.Effects{}, nil)
	case len(odd) > 1 && len(odd) == len(p.parties)-1:
		return end(&OrderError{p.setup.Self})
	}
	return end(protocol.Blame(odd[0], protocol.KindInconsistent, fmt.Errorf("psi: the rows of %s are in another order than this party's rows; check that no table has changed", strings.Join(odd, " and "))))
}

// repeated returns an error that blames the sender of a set with a repeated element.
func repeated(sender, owner string) error {
	return protocol.Blame(sender, protocol.KindInconsistent, fmt.Errorf("psi: the set of %s: %w", owner, errRepeated))
}

var errRepeated = errors.New("the set repeats an element")
