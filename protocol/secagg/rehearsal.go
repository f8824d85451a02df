package secagg

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/mercer-fl/mercer/internal/crypto/prg"
	"github.com/mercer-fl/mercer/internal/crypto/shamir"
	"github.com/mercer-fl/mercer/protocol"
)

// Rehearsal measures the work of one client and of the server in a session of very many clients,
// without running all clients. It runs one client against prepared messages of the others, and
// parts of the server's work. All its keys are known, so it protects nothing.
type Rehearsal struct {
	params   Params
	vector   Vector
	session  *protocol.Session
	identity Identity // the same identity for all clients
	script   []protocol.Message
}

// NewRehearsal prepares a session in which no client vanishes. The rehearsed client has the vector
// v.
func NewRehearsal(p Params, v Vector) (*Rehearsal, error) {
	members := []protocol.Member{{Name: "server", Role: protocol.RoleServer}}
	for i := range p.clients {
		members = append(members, protocol.Member{Name: fmt.Sprintf("client-%d", i), Role: protocol.RoleParty})
	}
	session, err := protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: p.Encode(), Members: members, Purpose: "rehearsal"})
	if err != nil {
		return nil, err
	}
	known := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	r := &Rehearsal{params: p, vector: v, session: session, identity: Identity{
		Sign: func(m []byte) []byte { return ed25519.Sign(known, m) },
		Keys: slices.Repeat([]ed25519.PublicKey{known.Public().(ed25519.PublicKey)}, p.clients),
	}}
	return r, r.prepareMessages()
}

func (r *Rehearsal) setup(client int) protocol.Setup {
	return protocol.Setup{Session: r.session, Self: r.session.Members[1+client].Name, Seed: sha256.Sum256(number(client))}
}

// prepareMessages prepares the messages that the rehearsed client will receive.
func (r *Rehearsal) prepareMessages() error {
	all := newSet(r.params.clients)
	for i := range r.params.clients {
		all.add(i)
	}
	holders := r.params.holders(r.session.ID(), 0, all, r.setup(0).Seed)
	owners := r.owners(all)
	keys, err := r.members(holders)
	if err != nil {
		return err
	}
	d := deliveries{sharers: all}
	if d.list, err = r.deliver(owners); err != nil {
		return err
	}
	r.add(roundCohort, encodeSets(all))
	r.add(roundHolderKeys, encodeMembers(keys))
	r.add(roundShares, d.encode())
	r.add(roundSurvivors, encodeSets(all))
	if r.params.spec.Adversary == Active {
		word := [ed25519.SignatureSize]byte(r.identity.Sign(statement(r.session.ID(), all, all, all)))
		var list []signature
		for _, h := range holders {
			list = append(list, signature{h, word})
		}
		r.add(roundSignatures, encodeSignatures(list))
	}
	return nil
}

func (r *Rehearsal) add(round uint16, body []byte) {
	r.script = append(r.script, protocol.Message{Header: r.session.Header("server", r.setup(0).Self, round, kindOf(round)), Body: body})
}

// owners chooses the clients whose shares the rehearsed client holds. There are as many owners as
// the rehearsed client has holders.
func (r *Rehearsal) owners(all set) []int {
	if r.mutual() {
		return r.params.holders(r.session.ID(), 0, all, [32]byte{})
	}
	return drawHolders([32]byte{1}, all.list()[1:], r.params.degree.Holders)
}

func (r *Rehearsal) members(clients []int) ([]member, error) {
	list := make([]member, len(clients))
	for i, client := range clients {
		s, err := newSecrets(r.setup(client).Seed, r.session.ID())
		if err != nil {
			return nil, err
		}
		list[i] = member{client, s.publicKeys(r.session.ID(), client, r.identity.Sign)}
	}
	return list, nil
}

func (r *Rehearsal) deliver(owners []int) ([]delivery, error) {
	self, err := r.members([]int{0})
	if err != nil {
		return nil, err
	}
	members, err := r.members(owners)
	if err != nil {
		return nil, err
	}
	list := make([]delivery, len(owners))
	for i, owner := range owners {
		c := Client{core: core{setup: r.setup(owner)}, self: owner}
		if c.secrets, err = newSecrets(c.setup.Seed, r.session.ID()); err != nil {
			return nil, err
		}
		list[i].owner = members[i]
		if list[i].sealed, err = c.seal(self[0], shamir.Share{}, shamir.Share{}); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Client does all the work of the rehearsed client in a session. It returns the numbers of body
// bytes that the client sends and receives.
func (r *Rehearsal) Client() (sent, received int, err error) {
	c, err := NewClient(r.setup(0), r.params, r.vector, r.identity)
	if err != nil {
		return 0, 0, err
	}
	events := []protocol.Event{protocol.Start{InputHash: c.InputHash()}}
	for _, m := range r.script {
		received += len(m.Body)
		events = append(events, protocol.Received{Message: m})
	}
	ended := false
	for len(events) > 0 {
		e, err := c.Step(events[0])
		if err != nil {
			return 0, 0, err
		}
		if events = events[1:]; e.Resume {
			events = slices.Insert(events, 0, protocol.Event(protocol.Resumed{}))
		}
		for _, m := range e.Send {
			sent += len(m.Body)
		}
		ended = e.End != nil
	}
	if !ended {
		return 0, 0, fmt.Errorf("secagg: the rehearsed client did not end after the last prepared message")
	}
	return sent, received, nil
}

// Unmasking returns a function that does the server's unmasking work for some clients: it
// reconstructs their secrets and removes their masks from the sum. A vanished client's masks are
// the pairwise masks with all its partners in the sum.
func (r *Rehearsal) Unmasking(clients int, vanished bool) (func() error, error) {
	s, err := NewServer(protocol.Setup{Session: r.session, Self: "server"}, r.params, r.identity.Keys, Limits{Words: r.params.layout.Words()})
	if err != nil {
		return nil, err
	}
	everybody := s.all.list()
	owners, others := everybody[:clients], everybody[clients:]
	s.released, s.owners = s.all, make([][]int, s.params.clients)
	for i := range everybody {
		if i >= clients || !vanished {
			s.survivors.add(i)
		}
	}
	for _, owner := range owners {
		if err := r.prepareRelease(s, owner, others); err != nil {
			return nil, err
		}
	}
	return func() error {
		s.recovery = &recovery{}
		if err := s.solve(owners); err != nil {
			return err
		}
		r.params.masker.Add(s.sum, 0, s.recovery.masks)
		return nil
	}, nil
}

// prepareRelease stores a client's holders, partners and released shares in the server, as a real
// session would.
func (r *Rehearsal) prepareRelease(s *Server, owner int, others []int) error {
	secrets, err := newSecrets(r.setup(owner).Seed, r.session.ID())
	if err != nil {
		return err
	}
	peer, k := s.peers[owner], min(r.params.degree.Holders, len(others))
	peer.keys, peer.holders = secrets.publicKeys(r.session.ID(), owner, r.identity.Sign), others[:k]
	if !r.mutual() {
		s.owners[owner] = others[max(0, len(others)-k):]
	}
	for _, other := range others {
		s.peers[other].keys = peer.keys // any valid keys suffice for a measurement
	}
	secret := secrets.maskSeed
	if s.survivors.has(owner) {
		secret = secrets.self
	}
	shares, err := shamir.Split(secret, r.params.degree.Threshold, pointsOf(k), prg.New(secrets.shares, "secagg/rehearsal"))
	if err != nil {
		return err
	}
	for i, h := range peer.holders {
		s.owners[h] = append(s.owners[h], owner)
		s.peers[h].releases = append(s.peers[h].releases, release{owner, shares[i]})
	}
	return nil
}

// mutual reports whether every client holds shares of its own holders, and of no other clients.
func (r *Rehearsal) mutual() bool {
	return r.params.degree.Complete || r.params.spec.Adversary == SemiHonest
}
