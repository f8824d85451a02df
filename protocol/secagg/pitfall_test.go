package secagg

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/internal/shamir"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// These tests are named after the list of mistakes that others have made.
// Those of the vectors' layout and of dropouts (12, 18) stand beside their code.

// liar is a server that follows the protocol except where it lies: tell may
// change what a client gets, and it takes every signature for good.
type liar struct {
	*Server
	tell     func(protocol.Message) protocol.Message
	released map[string][]release // what it has got out of the clients
}

func (l *liar) Step(e protocol.Event) (protocol.Effects, error) {
	if r, ok := e.(protocol.Received); ok {
		switch r.Message.Round {
		case roundConsistency:
			return l.swallow(r.Message)
		case roundUnmask:
			list, err := decodeReleases(r.Message.Body, l.params.clients)
			if err != nil {
				return protocol.Effects{}, err
			}
			l.released[r.Message.Sender] = list
		}
	}
	effects, err := l.Server.Step(e)
	for i, m := range effects.Send {
		effects.Send[i] = l.tell(m)
	}
	return effects, err
}

// swallow keeps a signature that the honest server would refuse.
func (l *liar) swallow(m protocol.Message) (protocol.Effects, error) {
	from, _ := l.clientOf(m.Sender)
	l.peers[from].signature = signature{from, [64]byte(m.Body)}
	l.agreed.add(from)
	if l.agreed.count() < l.survivors.count() {
		return protocol.Effects{}, nil
	}
	return l.advance()
}

// lie runs a session whose server lies, and returns what it has got out.
func (c *crowd) lie(t *testing.T, s sim.Schedule, tell func(protocol.Message) protocol.Message) (*sim.Result, *liar) {
	t.Helper()
	nodes := c.nodes(t)
	var l *liar
	nodes[0].New = func() (protocol.Machine, error) {
		server, err := NewServer(c.setup("server"), c.params, c.public(), Limits{})
		l = &liar{server, tell, make(map[string][]release)}
		return l, err
	}
	r, err := sim.Run(sim.Config{Session: c.session, Nodes: nodes, Schedule: s})
	if err != nil {
		t.Fatal(err)
	}
	return r, l
}

// blames demands that a client ended with, or refused a message with, an error
// that blames the server.
func blames(t *testing.T, r *sim.Result, client, words string) {
	t.Helper()
	var all []error
	if o := r.Outcome(client); o.End != nil {
		all = append(all, o.End.Err)
	}
	for _, refusal := range r.Refusals {
		if refusal.Node == client {
			all = append(all, refusal.Err)
		}
	}
	for _, err := range all {
		if blame, ok := errors.AsType[*protocol.BlameError](err); ok && strings.Contains(err.Error(), words) && strings.Contains(blame.Error(), "server") {
			return
		}
	}
	t.Errorf("%s does not blame the server for %q: %v", client, words, all)
}

// nobodyReleases demands that the server got no share of anybody.
func nobodyReleases(t *testing.T, l *liar) {
	t.Helper()
	for name := range l.released {
		t.Errorf("%s has released shares", name)
	}
}

// rewrite changes the set in a server's message.
func (c *crowd) rewrite(t *testing.T, m protocol.Message, change func(set)) protocol.Message {
	t.Helper()
	told, err := decodeSet(m.Body, len(c.names))
	if err != nil {
		t.Fatal(err)
	}
	change(told)
	m.Body = encodeSets(told)
	return m
}

func remove(s set, i int) { s.bits[i/8] &^= 1 << (i % 8) }

// A client answers once, with one kind of share for each other client.
func TestPitfall01BothSharesOfOneClient(t *testing.T) {
	c := newCrowd(t, spec(Active), 12)
	r, l := c.lie(t, sim.Schedule{}, func(m protocol.Message) protocol.Message { return m })
	c.checkHonest(t, l)
	for name, list := range l.released {
		owners := make(map[int]bool)
		for _, u := range list {
			if owners[u.owner] {
				t.Errorf("%s gives two shares of %s", name, c.names[u.owner])
			}
			owners[u.owner] = true
		}
		again := c.setup("server").Session.Header("server", name, roundSurvivors, kindSurvivors)
		other := newSet(12)
		for i := range 11 {
			other.add(i)
		}
		if _, err := r.Outcome(name).Machine.Step(protocol.Received{Message: protocol.Message{Header: again, Body: encodeSets(other)}}); err == nil {
			t.Errorf("%s hears another story after it has answered", name)
		}
	}
	if len(l.released) != 12 {
		t.Errorf("%d clients have answered, want 12", len(l.released))
	}
}

// checkHonest makes sure that the liar's plumbing works: without a lie there is
// a sum.
func (c *crowd) checkHonest(t *testing.T, l *liar) {
	t.Helper()
	if l.Sums() == nil {
		t.Fatal("without a lie there is no sum")
	}
}

// A second, different list of survivors while the first is being signed is not
// even read.
func TestPitfall01TwoStoriesToOneClient(t *testing.T) {
	c := newCrowd(t, spec(Active), 12)
	client, err := c.client(0)
	if err != nil {
		t.Fatal(err)
	}
	all := newSet(12)
	for i := range 12 {
		all.add(i)
	}
	begin(t, client)
	client.awaits = roundSurvivors
	client.cohort, client.sharers, client.holders = all, all, c.params.holders(c.session.ID(), 0, all, [32]byte{})
	tell := func(survivors set) error {
		h := c.session.Header("server", c.names[0], roundSurvivors, kindSurvivors)
		_, err := client.Step(protocol.Received{Message: protocol.Message{Header: h, Body: encodeSets(survivors)}})
		return err
	}
	if err := tell(all); err != nil {
		t.Fatal(err)
	}
	other := newSet(12)
	for i := range 11 {
		other.add(i)
	}
	if tell(other) == nil || !client.survivors.has(11) {
		t.Error("a client hears a second story")
	}
}

// Half the clients are told that one of them has vanished, the others that it
// has not: with enough answers of both kinds the server could unmask its vector.
func TestPitfall02DifferentSurvivorsToDifferentClients(t *testing.T) {
	const victim = 7
	half := func(c *crowd) func(protocol.Message) protocol.Message {
		return func(m protocol.Message) protocol.Message {
			if m.Round == roundSurvivors && c.index(m.Receiver)%2 == 0 {
				return c.rewrite(t, m, func(s set) { remove(s, victim) })
			}
			return m
		}
	}
	c := newCrowd(t, spec(Active), 40)
	r, l := c.lie(t, sim.Schedule{}, half(c))
	nobodyReleases(t, l)
	blames(t, r, c.names[victim], "has signed another story")
	blames(t, r, c.names[0], "has signed another story")

	// A cleverer server hands each client only the signatures that agree with
	// it. Some clients answer; but no secret has a threshold of holders that
	// were told one thing, and another that were told the other.
	c = newCrowd(t, spec(Active), 40)
	_, l = c.lie(t, sim.Schedule{}, func(m protocol.Message) protocol.Message {
		if m.Round != roundSignatures {
			return half(c)(m)
		}
		list, err := decodeSignatures(m.Body, 40)
		if err != nil {
			t.Fatal(err)
		}
		m.Body = encodeSignatures(slices.DeleteFunc(list, func(s signature) bool { return s.client%2 != c.index(m.Receiver)%2 }))
		return m
	})
	if mask, self := c.sharesOf(l, victim); min(mask, self) >= c.params.Degree().Threshold {
		t.Errorf("the server has %d shares of the victim's mask key and %d of its self mask: it reads the vector", mask, self)
	}

	// Against onlookers only there is no such round, and the lie works: 20
	// answers of each kind give the server both secrets of the victim.
	c = newCrowd(t, spec(SemiHonest), 40)
	_, l = c.lie(t, sim.Schedule{}, half(c))
	if mask, self := c.sharesOf(l, victim); min(mask, self) < c.params.Degree().Threshold {
		t.Errorf("a semi-honest session gives up %d and %d shares of the victim; the attack should work with %d", mask, self, c.params.Degree().Threshold)
	}
}

func (c *crowd) index(name string) int { return slices.Index(c.names, name) }

// sharesOf counts the shares of a client's two secrets that the server got.
func (c *crowd) sharesOf(l *liar, victim int) (mask, self int) {
	for name, list := range l.released {
		for _, u := range list {
			if u.owner != victim {
				continue
			}
			if c.index(name)%2 == 0 { // was told that the victim has vanished
				mask++
			} else {
				self++
			}
		}
	}
	return mask, self
}

// A mask is AES-128 in counter mode under a key of 128 bits that no two
// clients, sessions or directions share.
func TestPitfall03TheStreamIsACipher(t *testing.T) {
	key := sha256.Sum256([]byte("key"))
	words := make([]uint64, 3*tileWords+5)
	apply([]stream{newStream(key, false)}, 0, words)
	block, err := aes.NewCipher(key[:16])
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 8*len(words))
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(want, want)
	for i, w := range words {
		if w != binary.LittleEndian.Uint64(want[8*i:]) {
			t.Fatalf("word %d is %x, want %x", i, w, want[8*i:8*i+8])
		}
	}
	part := make([]uint64, 100)
	apply([]stream{newStream(key, true)}, 2000, part)
	for i, w := range part {
		if -w != words[2000+i] {
			t.Fatalf("word %d of a piece is %x, want %x", i, -w, words[2000+i])
		}
	}
}

// The server cannot put keys of its own in the place of a client's.
func TestPitfall04KeysAreSigned(t *testing.T) {
	c := newCrowd(t, spec(Active), 12)
	own, err := newSecrets([32]byte{66}, c.session.ID())
	if err != nil {
		t.Fatal(err)
	}
	for name, forge := range map[string]func(*keys){
		"encryption": func(k *keys) { copy(k.encryption[:], own.encryption.PublicKey().Bytes()) },
		"mask":       func(k *keys) { copy(k.mask[:], own.mask.PublicKey().Bytes()) },
	} {
		t.Run(name, func(t *testing.T) {
			r, l := c.lie(t, sim.Schedule{}, func(m protocol.Message) protocol.Message {
				if m.Round != roundHolderKeys {
					return m
				}
				list, err := decodeMembers(m.Body, 12)
				if err != nil {
					t.Fatal(err)
				}
				for i := range list {
					if c.names[list[i].client] != m.Receiver {
						forge(&list[i].keys)
					}
				}
				m.Body = encodeMembers(list)
				return m
			})
			nobodyReleases(t, l)
			for _, name := range c.names {
				blames(t, r, name, "keys that the client has not signed")
			}
		})
	}
}

// With an active server, holders depend on the client's own seed and on who is
// there, and on nothing that the server could try out.
func TestPitfall05ClientsDrawTheirHolders(t *testing.T) {
	c := newCrowd(t, spec(Active), 100)
	everybody := newSet(100)
	for i := range 100 {
		everybody.add(i)
	}
	a := c.params.holders(protocol.SessionID{1}, 5, everybody, [32]byte{1})
	if b := c.params.holders(protocol.SessionID{2}, 5, everybody, [32]byte{1}); !slices.Equal(a, b) {
		t.Error("another session id gives other holders: a server could try nonces")
	}
	if b := c.params.holders(protocol.SessionID{1}, 5, everybody, [32]byte{2}); slices.Equal(a, b) {
		t.Error("another seed gives the same holders")
	}
	if len(a) != c.params.Degree().Holders || slices.Contains(a, 5) {
		t.Errorf("holders %v", a)
	}
	counts := make([]float64, 100)
	for seed := range 2000 {
		for _, h := range c.params.holders(protocol.SessionID{}, 5, everybody, [32]byte{byte(seed), byte(seed >> 8)}) {
			counts[h]++
		}
	}
	mean, chi := 2000*float64(len(a))/99, 0.0
	for i, n := range counts {
		if i != 5 {
			chi += (n - mean) * (n - mean) / mean
		}
	}
	if counts[5] != 0 || chi > 99+6*math.Sqrt(2*99) {
		t.Errorf("holders are not drawn evenly: chi-square %.0f on 99 others", chi)
	}
}

// Against onlookers the graph is Harary's ring: who holds for whom is mutual.
func TestRingIsMutual(t *testing.T) {
	c := newCrowd(t, spec(SemiHonest), 100)
	everybody := newSet(100)
	for i := range 100 {
		everybody.add(i)
	}
	id := protocol.SessionID{3}
	for i := range 100 {
		for _, h := range c.params.holders(id, i, everybody, [32]byte{}) {
			if !slices.Contains(c.params.holders(id, h, everybody, [32]byte{}), i) {
				t.Fatalf("%d holds for %d and not the other way round", h, i)
			}
		}
	}
}

// The same seed in another session gives other keys and other masks; two
// directions, two keys to encrypt under. No key is used for two messages.
func TestPitfall06NothingIsUsedTwice(t *testing.T) {
	one, two := protocol.SessionID{1}, protocol.SessionID{2}
	a, _ := newSecrets([32]byte{9}, one)
	b, _ := newSecrets([32]byte{9}, two)
	if a.self == b.self || a.maskSeed == b.maskSeed || a.encryption.Equal(b.encryption) || a.shares == b.shares {
		t.Error("two sessions share a secret")
	}
	other, _ := newSecrets([32]byte{8}, one)
	seen := make(map[string]string)
	for name, id := range map[string]protocol.SessionID{"one": one, "two": two} {
		for _, pair := range [][2]int{{1, 2}, {2, 1}, {1, 3}} {
			aead, err := sealer(id, a.encryption, pair[0], pair[1], [32]byte(other.encryption.PublicKey().Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			text := string(aead.Seal(nil, make([]byte, aead.NonceSize()), make([]byte, 64), nil))
			if before, ok := seen[text]; ok {
				t.Errorf("session %s encrypts %v under the key of %s", name, pair, before)
			}
			seen[text] = name
		}
	}
}

// A second session for the same epoch and purpose finds the contribution spent,
// even if the first gave no sum.
func TestPitfall07OneContributionPerEpoch(t *testing.T) {
	c := newCrowd(t, spec(Active), 5)
	ledger := &sim.Ledger{}
	run := func(nonce byte, gone map[string]int) *sim.Result {
		d := c.session.Descriptor
		d.Nonce = [32]byte{nonce}
		again := *c
		var err error
		if again.session, err = protocol.NewSession(d); err != nil {
			t.Fatal(err)
		}
		r, err := sim.Run(sim.Config{Session: again.session, Nodes: again.nodes(t), Ledger: ledger, Schedule: sim.Schedule{Gone: gone}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	all := make(map[string]int)
	for _, name := range c.names {
		all[name] = afterMasked // the first session dies after the vectors are sent
	}
	run(1, all)
	second := run(2, nil)
	if second.Outcome("server").Machine.(*Server).Sums() != nil {
		t.Error("the same vectors are summed over another session")
	}
	for h := range second.Sent {
		if h.Round == roundMasked {
			t.Fatalf("%s sends a vector again", h.Sender)
		}
	}
}

// What comes after its client was declared dropped is thrown away.
func TestPitfall08LateVectorsAreNotAdded(t *testing.T) {
	c := newCrowd(t, spec(Active), 30)
	var server *Server
	nodes := c.nodes(t)
	nodes[0].New = func() (protocol.Machine, error) {
		s, err := NewServer(c.setup("server"), c.params, c.public(), Limits{})
		server = s
		return s, err
	}
	var late []protocol.Message
	r, err := sim.Run(sim.Config{Session: c.session, Nodes: nodes, Intercept: func(m protocol.Message) []protocol.Message {
		if m.Round == roundMasked && m.Sender == c.names[4] {
			late = append(late, m)
			return nil
		}
		return []protocol.Message{m}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if len(late) == 0 || server.survivors.has(4) {
		t.Fatal("nothing came late")
	}
	c.checkSum(t, r, 29)

	// The same while the survivors are being signed.
	twin, err := NewServer(c.setup("server"), c.params, c.public(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, twin)
	twin.round = roundConsistency
	before := slices.Clone(twin.sum)
	if _, err := twin.Step(protocol.Received{Message: late[0]}); err != nil {
		t.Errorf("a late vector is an error: %v", err)
	}
	if !slices.Equal(before, twin.sum) || twin.survivors.has(4) {
		t.Error("a late vector is added")
	}
}

// tardy hears a message when it is already taking the masks off.
type tardy struct {
	*Server
	late *protocol.Message
	told int
}

func (s *tardy) Step(e protocol.Event) (protocol.Effects, error) {
	if s.recovery != nil && s.late != nil {
		if _, err := s.Server.Step(protocol.Received{Message: *s.late}); err != nil {
			return protocol.Effects{}, err
		}
		s.told++
	}
	return s.Server.Step(e)
}

// The last share that comes when the masks are already being taken off does not
// begin that anew: they would be taken off twice.
func TestPitfall08LateSharesAreNotUsed(t *testing.T) {
	c := newCrowd(t, spec(Active), 30)
	nodes := c.nodes(t)
	var server *tardy
	nodes[0].New = func() (protocol.Machine, error) {
		s, err := NewServer(c.setup("server"), c.params, c.public(), Limits{})
		server = &tardy{Server: s}
		return server, err
	}
	r, err := sim.Run(sim.Config{Session: c.session, Nodes: nodes, Intercept: func(m protocol.Message) []protocol.Message {
		if m.Round == roundUnmask && m.Sender == c.names[4] {
			server.late = &m
			return nil
		}
		return []protocol.Message{m}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if server.told < 2 {
		t.Fatalf("the share came late %d times", server.told)
	}
	if o := r.Outcome("server"); o.End == nil || o.End.Err != nil {
		t.Fatalf("the server ended with %+v", o.End)
	}
	if d := cmp.Diff(c.plain(server.Survivors()), server.Sums()); d != "" {
		t.Errorf("the sum is not the sum: %s", d)
	}
}

// A sum of fewer vectors than agreed is not unmasked.
func TestPitfall09TheMinimumIsTheClients(t *testing.T) {
	s := spec(Active)
	s.Minimum = 38
	c := newCrowd(t, s, 40)
	r, l := c.lie(t, sim.Schedule{}, func(m protocol.Message) protocol.Message {
		if m.Round != roundSurvivors {
			return m
		}
		return c.rewrite(t, m, func(told set) {
			for i := range 6 {
				if c.names[i] != m.Receiver {
					remove(told, i)
				}
			}
		})
	})
	nobodyReleases(t, l)
	blames(t, r, c.names[20], "a sum of 34 vectors, fewer than the agreed minimum of 38")
}

// A session's name binds everything that was agreed: a message of a session
// with other parameters is refused.
func TestPitfall11TheSessionBindsWhatWasAgreed(t *testing.T) {
	c := newCrowd(t, spec(Active), 5)
	s := spec(Active)
	s.Groups = []Group{{Entries: 41, Bound: 7}}
	other := newCrowd(t, s, 5)
	client, err := c.client(0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Step(protocol.Start{InputHash: client.InputHash()}); err != nil {
		t.Fatal(err)
	}
	all := newSet(5)
	for i := range 5 {
		all.add(i)
	}
	m := protocol.Message{Header: other.session.Header("server", c.names[0], roundCohort, kindCohort), Body: encodeSets(all)}
	if _, err := client.Step(protocol.Received{Message: m}); err == nil {
		t.Error("a message of another session is accepted")
	}
	if _, err := NewClient(c.setup(c.names[0]), other.params, other.vectors[0], Identity{func([]byte) []byte { return nil }, c.public()}); err == nil {
		t.Error("other parameters than the session's are accepted")
	}
}

// Both ends of a pair agree on the mask and on who adds it.
func TestPitfall13MasksOfAPairCancel(t *testing.T) {
	id := protocol.SessionID{4}
	a, _ := newSecrets([32]byte{1}, id)
	b, _ := newSecrets([32]byte{2}, id)
	for _, pair := range [][2]int{{0, 1}, {1, 0}, {255, 256}} {
		x, err := pairMask(id, a.mask, pair[0], pair[1], [32]byte(b.mask.PublicKey().Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		y, err := pairMask(id, b.mask, pair[1], pair[0], [32]byte(a.mask.PublicKey().Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		words := make([]uint64, 100)
		apply([]stream{x}, 0, words)
		if !slices.ContainsFunc(words, func(w uint64) bool { return w != 0 }) {
			t.Fatal("no mask")
		}
		apply([]stream{y}, 0, words)
		if slices.ContainsFunc(words, func(w uint64) bool { return w != 0 }) {
			t.Errorf("masks of %v do not cancel", pair)
		}
	}
}

// A holder that releases a wrong share is found out when there are more shares
// than the threshold, and the sum is not given out.
func TestPitfall14WrongSharesAreFoundOut(t *testing.T) {
	c := newCrowd(t, spec(Active), 40)
	changed := 0
	r := c.run(t, sim.Schedule{Gone: map[string]int{c.names[9]: afterShares}}, func(m protocol.Message) []protocol.Message {
		if m.Round == roundUnmask && m.Sender == c.names[3] {
			m.Body = bytes.Clone(m.Body)
			m.Body[len(m.Body)-1] ^= 1
			changed++
		}
		return []protocol.Message{m}
	})
	if changed != 1 {
		t.Fatal("nothing was changed")
	}
	if o := r.Outcome("server"); o.End == nil || !errors.Is(o.End.Err, shamir.ErrInconsistent) || o.Machine.(*Server).Sums() != nil {
		t.Errorf("the server ended with %+v", o.End)
	}
}

// Shares that are meant for another holder, or come from another client, do not
// open.
func TestPitfall15SharesNameSenderAndReceiver(t *testing.T) {
	c := newCrowd(t, spec(Active), 5)
	r, l := c.lie(t, sim.Schedule{}, func(m protocol.Message) protocol.Message {
		if m.Round != roundShares || m.Receiver != c.names[2] {
			return m
		}
		d, err := decodeDeliveries(m.Body, 5)
		if err != nil {
			t.Fatal(err)
		}
		d.list[0].sealed, d.list[1].sealed = d.list[1].sealed, d.list[0].sealed
		m.Body = d.encode()
		return m
	})
	if _, got := l.released[c.names[2]]; got {
		t.Error("the client answers all the same")
	}
	blames(t, r, c.names[2], "shares that do not open")
}

// The threshold counts a client's holders that are in the sum, not all clients.
func TestPitfall17TheThresholdCountsHolders(t *testing.T) {
	c := newCrowd(t, spec(Active), 100)
	client, err := c.client(0)
	if err != nil {
		t.Fatal(err)
	}
	all := newSet(100)
	for i := range 100 {
		all.add(i)
	}
	holders := c.params.holders(c.session.ID(), 0, all, c.setup(c.names[0]).Seed)
	begin(t, client)
	client.awaits = roundSurvivors
	client.cohort, client.sharers, client.holders = all, all, holders
	client.params.spec.Minimum = 2 // which would be refused first
	told := newSet(100)
	copy(told.bits, all.bits)
	for _, h := range holders[c.params.Degree().Threshold-1:] {
		remove(told, h)
	}
	m := protocol.Message{Header: c.session.Header("server", c.names[0], roundSurvivors, kindSurvivors), Body: encodeSets(told)}
	if _, err := client.Step(protocol.Received{Message: m}); err == nil || !strings.Contains(err.Error(), "holders are left, fewer than the threshold") {
		t.Errorf("%d of 100 are left, but too few holders: %v", told.count(), err)
	}
	told.add(holders[len(holders)-1])
	m.Body = encodeSets(told)
	if _, err := client.Step(protocol.Received{Message: m}); err != nil {
		t.Errorf("exactly the threshold: %v", err)
	}
}

// A vector of zeros under masks is uniform, bit by bit and byte by byte.
func TestPitfall18ZerosLookUniform(t *testing.T) {
	s := spec(Active)
	s.Groups = []Group{{Entries: 200_000, Bound: 1}}
	c := newCrowd(t, s, 6)
	for i := range c.vectors {
		clear(c.vectors[i][0])
	}
	var counts [256]float64
	total := 0
	r := c.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		if m.Round == roundMasked {
			for _, b := range m.Body {
				counts[b]++
			}
			total += len(m.Body)
		}
		return []protocol.Message{m}
	})
	c.checkSum(t, r, 6)
	mean, chi := float64(total)/256, 0.0
	for _, n := range counts {
		chi += (n - mean) * (n - mean) / mean
	}
	if total == 0 || math.Abs(chi-255) > 6*math.Sqrt(2*255) {
		t.Errorf("chi-square %.0f on 256 values of %d bytes", chi, total)
	}
}
