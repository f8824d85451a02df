package psi

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/mercer-fl/mercer/internal/base/wire"
	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/crypto/ristretto"
	"github.com/mercer-fl/mercer/protocol"
)

// Party holds a set of ids and learns which of them all parties have.
type Party struct {
	core
	ids    [][]byte
	hash   [sha256.Size]byte // of ids
	self   int               // index among the parties
	key    *ristretto.Key
	own    own
	peers  []peer // by index, with the party itself
	course course
	done   int // elements multiplied
	// What the session is for, once rows are known.
	result result
}

// course moves the sets: between two parties, or around a ring to the comparer.
type course interface {
	// announced makes room for the set of a party, whose size is known now.
	announced(owner, n int)
	// set returns the list that keeps the party's blinding of another's set, nil if
	// it is passed on already.
	set(owner int) *list
	// put keeps a chunk that the party has blinded, and says what follows.
	put(owner, chunk int, elements []byte) protocol.Effects
	// receive takes the messages that belong to this course only.
	receive(protocol.Message) (protocol.Effects, error)
	// busy reports whether there is work for resume, which does a piece of it.
	busy() bool
	resume() (protocol.Effects, error)
	// debtor returns the sender of a missing message, and the message; "" while nothing is missing.
	debtor() (name, what string)
	// rows returns the common rows in an order that all parties share, nil
	// until they are known.
	rows() []int
}

// NewParty returns the machine of a party with the given ids, one for each row
// of its table, which it keeps. It refuses ids that are missing or there twice,
// with an [IDError].
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
		party.course = newPair(party)
	} else {
		party.course = newRing(party)
	}
	return party, nil
}

// checkIDs refuses ids that cannot be aligned.
func checkIDs(ids [][]byte, p Params) error {
	if len(ids) == 0 || len(ids) > p.spec.MaxIDs {
		return fmt.Errorf("psi: %d ids; the session takes 1 to %d", len(ids), p.spec.MaxIDs)
	}
	for i, id := range ids {
		if len(id) == 0 {
			return &IDError{Rows: []int{i}, why: fmt.Sprintf("row %d has no id", i+1)}
		}
		if len(id) > MaxIDBytes {
			return &IDError{Rows: []int{i}, why: fmt.Sprintf("row %d has an id of %d bytes, at most %d are possible", i+1, len(id), MaxIDBytes)}
		}
	}
	return distinct(ids)
}

// hashIDs returns the input's hash, for protocol.Start.
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

func newOwn(s protocol.Setup, rows, each int) own {
	id := s.Session.ID()
	return own{shuffle: prg.New(s.Seed, "psi/shuffle", id[:]).Perm32(rows), total: chunks(rows, each)}
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

// InputHash returns the hash of the ids, for protocol.Start.
func (p *Party) InputHash() [sha256.Size]byte { return p.hash }

// Step implements [protocol.Machine].
func (p *Party) Step(e protocol.Event) (protocol.Effects, error) { return p.step(p, e) }

func (p *Party) start(e protocol.Start) (protocol.Effects, error) {
	if e.InputHash != p.hash {
		return protocol.Effects{}, errors.New("psi: the ids differ from those the session was started with; restore them or start a new job")
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
	return p.course.receive(m)
}

func (p *Party) busy() bool {
	return p.own.sent < p.own.total || p.course.busy() || p.result.order == nil && p.course.rows() != nil
}

// resume does a piece of work: the own set first, since others wait for it.
func (p *Party) resume() (protocol.Effects, error) {
	switch {
	case p.own.sent < p.own.total:
		return p.blindOwn(), nil
	case p.course.busy():
		return p.course.resume()
	case p.busy():
		return p.arrange()
	}
	return protocol.Effects{}, errIdle
}

// debtor goes by the rounds: a party that has not announced holds all up.
func (p *Party) debtor() (name, what string) {
	for i, peer := range p.peers {
		if peer.count == 0 {
			return p.parties[i], "the size of its set"
		}
	}
	if name, what = p.course.debtor(); name != "" || p.result.order == nil {
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

// Announced returns the number of ids that each other party has announced; a party
// that has announced none yet is left out.
func (p *Party) Announced() map[string]int {
	sizes := make(map[string]int)
	for i, peer := range p.peers {
		if i != p.self && peer.count > 0 {
			sizes[p.parties[i]] = peer.count
		}
	}
	return sizes
}

// sizes returns the sizes of all sets.
func (p *Party) sizes() []int {
	sizes := make([]int, len(p.peers))
	for i := range p.peers {
		sizes[i] = p.peers[i].count
	}
	return sizes
}
