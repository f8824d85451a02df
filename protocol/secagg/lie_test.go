package secagg

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// lie is one message of the server's, bent so that a client can tell.
type lie struct {
	name  string
	round uint16
	bend  func(t *testing.T, c *crowd, m protocol.Message) []byte
	words string // of the client's refusal
}

// ofSet bends a message that is a set of clients.
func ofSet(change func(s set, receiver int)) func(*testing.T, *crowd, protocol.Message) []byte {
	return func(t *testing.T, c *crowd, m protocol.Message) []byte {
		s := must(decodeSet(m.Body, len(c.names)))(t)
		change(s, c.index(m.Receiver))
		return encodeSets(s)
	}
}

// ofMembers bends the keys of holders.
func ofMembers(change func(list []member) []member) func(*testing.T, *crowd, protocol.Message) []byte {
	return func(t *testing.T, c *crowd, m protocol.Message) []byte {
		return encodeMembers(change(must(decodeMembers(m.Body, len(c.names)))(t)))
	}
}

// ofDeliveries bends the shares of others.
func ofDeliveries(change func(d *deliveries, receiver int)) func(*testing.T, *crowd, protocol.Message) []byte {
	return func(t *testing.T, c *crowd, m protocol.Message) []byte {
		d := must(decodeDeliveries(m.Body, len(c.names)))(t)
		change(&d, c.index(m.Receiver))
		return d.encode()
	}
}

// ofSignatures bends the word of others.
func ofSignatures(change func(list []signature) []signature) func(*testing.T, *crowd, protocol.Message) []byte {
	return func(t *testing.T, c *crowd, m protocol.Message) []byte {
		return encodeSignatures(change(must(decodeSignatures(m.Body, len(c.names)))(t)))
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// shrink leaves a set with that many clients, the receiver among them.
func shrink(to int) func(set, int) {
	return func(s set, receiver int) {
		for _, i := range s.list() {
			if s.count() > to && i != receiver {
				remove(s, i)
			}
		}
	}
}

func lies() []lie {
	return []lie{
		{"a cohort without its receiver", roundCohort, ofSet(func(s set, receiver int) { remove(s, receiver) }), "a cohort without the client"},
		{"a cohort of those that the server likes", roundCohort, ofSet(shrink(26)), "a cohort of 26 clients, fewer than the 27"},
		{"a set beyond the clients", roundCohort, func(_ *testing.T, _ *crowd, m protocol.Message) []byte { return append(m.Body[:4:4], 0xff) }, "too many"},
		{"other holders", roundHolderKeys, ofMembers(func(l []member) []member { return l[1:] }), "keys of other clients than were asked for"},
		{"one key for all", roundHolderKeys, ofMembers(func(l []member) []member {
			for i := range l {
				l[i].keys = l[0].keys
			}
			return l
		}), "keys that the client has not signed"},
		{"sharers without the receiver", roundShares, ofDeliveries(func(d *deliveries, receiver int) { remove(d.sharers, receiver) }), "all but the one it was sent to"},
		{"few sharers", roundShares, ofDeliveries(func(d *deliveries, receiver int) { shrink(26)(d.sharers, receiver) }), "26 clients that share, fewer than the agreed minimum of 27"},
		{"shares of one who has not shared", roundShares, ofDeliveries(func(d *deliveries, _ int) { remove(d.sharers, d.list[0].owner.client) }), "who has not shared"},
		{"other keys than before", roundShares, ofDeliveries(func(d *deliveries, _ int) {
			for i := range d.list {
				d.list[i].owner.keys.mask[0] ^= 1
			}
		}), "server"},
		{"survivors without the receiver", roundSurvivors, ofSet(func(s set, receiver int) { remove(s, receiver) }), "all but that of the client it was sent to"},
		{"few survivors", roundSurvivors, ofSet(shrink(26)), "a sum of 26 vectors, fewer than the agreed minimum of 27"},
		{"a signature of another story", roundSignatures, ofSignatures(func(l []signature) []signature {
			l[3].value[7] ^= 1
			return l
		}), "has signed another story"},
		{"a signature for another client", roundSignatures, ofSignatures(func(l []signature) []signature {
			l[0].value = l[1].value
			return l
		}), "has signed another story"},
		{"a stranger's signature", roundSignatures, ofSignatures(func(l []signature) []signature {
			l = append(l, signature{slices.Min(outside(l)), l[0].value})
			slices.SortFunc(l, func(a, b signature) int { return a.client - b.client })
			return l
		}), "who is no holder"},
		{"few signatures", roundSignatures, ofSignatures(func(l []signature) []signature { return l[:4] }), "fewer than the threshold"},
		{"one signature many times", roundSignatures, ofSignatures(func(l []signature) []signature { return slices.Repeat(l[:1], 20) }), "after client"},
	}
}

// outside lists clients without a signature in the list.
func outside(l []signature) []int {
	var out []int
	for i := range 30 {
		if !slices.ContainsFunc(l, func(s signature) bool { return s.client == i }) {
			out = append(out, i)
		}
	}
	return out
}

// Each lie is refused with the server's name, and leaves no trace: when the
// truth follows, everything goes on as if nothing had been said.
func TestLiesAreRefusedAndForgotten(t *testing.T) {
	c := newCrowd(t, spec(Active), 30)
	honest := c.run(t, sim.Schedule{}, nil)
	for _, l := range lies() {
		t.Run(l.name, func(t *testing.T) {
			told := 0
			r := c.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
				if m.Round != l.round || told > 0 {
					return []protocol.Message{m}
				}
				told++
				bent := m
				bent.Body = l.bend(t, c, m)
				return []protocol.Message{bent, m}
			})
			if told != 1 || len(r.Refusals) != 1 {
				t.Fatalf("%d lies, %d refusals", told, len(r.Refusals))
			}
			err := r.Refusals[0].Err
			blame, ok := errors.AsType[*protocol.BlameError](err)
			if !ok || blame.Party != "server" || !strings.Contains(err.Error(), l.words) {
				t.Errorf("refused with %v", err)
			}
			c.checkSum(t, r, 30)
			if !maps.Equal(r.Sent, honest.Sent) {
				t.Error("a refused lie changes what is sent later")
			}
		})
	}
}

// A server that could do with any cohort would take its own clients and a few
// others: among 943 clients, 47 of them corrupted, a cohort of 78 would give it
// 47 of the 74 holders of each. Clients hold out for what was agreed.
func TestTheMinimumFollowsFromTheDropped(t *testing.T) {
	p, err := NewParams(spec(Active), 943)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Spec().Minimum; got != 849 || p.Cohort() != 849 {
		t.Errorf("the minimum of 943 clients, of whom 94 may vanish, is %d, at the beginning %d", got, p.Cohort())
	}
	s := spec(Active)
	s.Minimum = 900
	if p, err = NewParams(s, 943); err != nil || p.Spec().Minimum != 900 || p.Cohort() != 900 {
		t.Errorf("minimum %d, cohort %d, %v", p.Spec().Minimum, p.Cohort(), err)
	}
}

// Where many may vanish, a server that chooses who is there makes the corrupted
// ones a larger share; the cohort is large enough that little is lost.
func TestCohortKeepsSigma(t *testing.T) {
	for _, tt := range []struct {
		n              int
		gamma, delta   float64
		wantLess, want float64 // sigma with as many as survive, and with the cohort
	}{
		{943, .05, .1, 40, 32},
		{10_000, .05, .33, 11, 32},
		{10_000, .2, .2, 14, 32},
	} {
		c := Crowd{tt.n, tt.gamma, tt.delta, Active, 40, 20}
		d, err := c.Degree()
		if err != nil {
			t.Fatal(err)
		}
		all, least, few := c.resists(d, tt.n), c.resists(d, c.leastCohort(d)), c.resists(d, c.survivors())
		t.Logf("%d clients, k=%d, t=%d: sigma %.1f; %.1f with %d, %.1f with %d", tt.n, d.Holders, d.Threshold, all, least, c.leastCohort(d), few, c.survivors())
		if all < 40 || least < tt.want || few > tt.wantLess {
			t.Errorf("%d clients: sigma %.1f with all, %.1f with %d, %.1f with %d", tt.n, all, least, c.leastCohort(d), few, c.survivors())
		}
	}
	complete := Crowd{4, 0, .25, Active, 40, 20}
	d, err := complete.Degree()
	if err != nil || !d.Complete || complete.leastCohort(d) != 3 {
		t.Errorf("%+v, %v, at least %d", d, err, complete.leastCohort(d))
	}
	one := Crowd{10, .1, .2, Active, 40, 20}
	if exact := one.resists(Degree{Holders: 4, Threshold: 3}, 10); !math.IsInf(exact, 1) {
		t.Errorf("two stories need two corrupted holders of four, one corrupted client has sigma %v", exact)
	}
}

// resign makes a client advertise other keys, under its own signature.
func (c *crowd) resign(who int, change func(*keys)) func(protocol.Message) []protocol.Message {
	return func(m protocol.Message) []protocol.Message {
		if m.Round == roundAdvertise && m.Sender == c.names[who] {
			var k keys
			copy(k.encryption[:], m.Body)
			copy(k.mask[:], m.Body[keyBytes:])
			change(&k)
			own, err := c.client(who)
			if err != nil {
				return nil
			}
			copy(k.signature[:], own.identity.Sign(k.statement(c.session.ID(), who)))
			m.Body = slices.Concat(k.encryption[:], k.mask[:], k.signature[:])
		}
		return []protocol.Message{m}
	}
}

// A client whose keys would make others give up is left out, and nobody else is.
func TestUnusableKeysAreRefused(t *testing.T) {
	c := newCrowd(t, spec(Active), 30)
	first, err := c.client(0)
	if err != nil {
		t.Fatal(err)
	}
	known := [keyBytes]byte(first.secrets.mask.PublicKey().Bytes())
	for name, change := range map[string]func(*keys){
		"mask of low order":       func(k *keys) { k.mask = [keyBytes]byte{} },
		"encryption of low order": func(k *keys) { k.encryption = [keyBytes]byte{1} },
		"mask of another":         func(k *keys) { k.mask = known },
		"encryption of another":   func(k *keys) { k.encryption = known },
		"one key for both":        func(k *keys) { k.encryption = k.mask },
	} {
		t.Run(name, func(t *testing.T) {
			r := c.run(t, sim.Schedule{}, c.resign(7, change))
			c.checkSum(t, r, 29)
			if len(r.Refusals) != 1 || !strings.HasPrefix(r.Refusals[0].Err.Error(), c.names[7]+" (inconsistent)") {
				t.Errorf("refusals %v", r.Refusals)
			}
		})
	}
}

// Clients that begin to send a vector and stop keep the room for vectors, until
// the server gives them up: those that wait still get in.
func TestStalledVectorsMakeRoom(t *testing.T) {
	s := Spec{Dropped: .3, Minimum: 2, Epoch: "1", Groups: []Group{{Entries: 70_000, Bound: 1 << 40}}}
	c := newCrowd(t, s, 12)
	stop := c.names[:3] // as many as there is room for
	r := c.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		if m.Round == roundMasked && m.Chunk == 1 && slices.Contains(stop, m.Sender) {
			return nil
		}
		return []protocol.Message{m}
	})
	c.checkSum(t, r, 9)
	if refused := len(r.Refusals); refused != 0 {
		t.Errorf("%d refusals", refused)
	}
}

// What a client that was given up sends after all is not used, and no offence.
func TestStalledVectorsDoNotGoOn(t *testing.T) {
	c := newCrowd(t, spec(Active), 5)
	s, err := NewServer(c.setup("server"), c.params, c.public(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, s)
	s.round, s.sharers = roundMasked, s.all
	s.peers[1].upload = s.newUpload()
	s.giveUp()
	m := protocol.Message{Header: c.session.Header(c.names[1], "server", roundMasked, kindMasked), Body: make([]byte, 8*c.params.Layout().Words())}
	if _, err := s.Step(protocol.Received{Message: m}); err != nil || s.survivors.has(1) || s.uploads != 0 {
		t.Errorf("%v, in the sum: %v, %d uploads", err, s.survivors.has(1), s.uploads)
	}
}

// With room to spare nobody is waiting for it: those who stopped are dropped as
// all who vanish.
func TestFewStalledVectorsAreDropped(t *testing.T) {
	s := Spec{Dropped: .3, Minimum: 2, Epoch: "1", Groups: []Group{{Entries: 70_000, Bound: 1 << 40}}}
	c := newCrowd(t, s, 12)
	r := c.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		if m.Round == roundMasked && m.Chunk == 1 && m.Sender == c.names[5] {
			return nil
		}
		return []protocol.Message{m}
	})
	c.checkSum(t, r, 11)
}

// Nobody is made to hold more shares than fit a message.
func TestHoldersAreBounded(t *testing.T) {
	c := newCrowd(t, spec(Active), 30)
	s, err := NewServer(c.setup("server"), c.params, c.public(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, s)
	s.round = roundShare
	copy(s.cohort.bits, s.all.bits)
	holders := c.params.holders(c.session.ID(), 4, s.all, [32]byte{1})
	s.peers[holders[2]].held = maxHeld(30)
	m := protocol.Message{Header: c.session.Header(c.names[4], "server", roundHolders, kindHolders), Body: encodeClients(holders)}
	if _, err := s.Step(protocol.Received{Message: m}); err == nil || !strings.Contains(err.Error(), "more clients than it can hold") {
		t.Errorf("a holder beyond its room: %v", err)
	}
	if s.peers[4].holders != nil || s.peers[holders[0]].held != 0 {
		t.Error("the refused message has changed something")
	}
	full := deliveries{sharers: newSet(30), list: make([]delivery, maxHeld(30))}
	if n := len(full.encode()); n > protocol.MaxChunkBytes {
		t.Errorf("a holder's shares take %d bytes", n)
	}
	if _, err := NewParams(Spec{Adversary: SemiHonest, Corrupted: .45, Dropped: .45, Minimum: 2, Epoch: "e", Groups: spec(Active).Groups}, 10_000); err == nil {
		t.Error("more holders than fit a message are accepted")
	}
}

// A client whose vector nobody takes any more ends by timer, too.
func TestStuckClientEnds(t *testing.T) {
	c := newCrowd(t, spec(Active), 5)
	client, err := c.client(1)
	if err != nil {
		t.Fatal(err)
	}
	begin(t, client)
	client.masks = []stream{newStream([32]byte{}, false)}
	e, err := client.Step(protocol.Expired{Timer: TimerServer})
	if err != nil || e.End == nil || !strings.Contains(e.End.Err.Error(), "server (silent)") {
		t.Errorf("%+v, %v", e, err)
	}
}

// After the end no machine holds a secret.
func TestSecretsDieWithTheSession(t *testing.T) {
	c := newCrowd(t, spec(Active), 5)
	r := c.run(t, sim.Schedule{}, nil)
	c.checkSum(t, r, 5)
	for _, name := range c.names {
		if m := r.Outcome(name).Machine.(*Client); m.secrets != nil || m.held != nil || m.masks != nil || m.setup.Seed != [32]byte{} {
			t.Errorf("%s keeps secrets", name)
		}
	}
	if s := r.Outcome("server").Machine.(*Server); s.peers != nil || s.recovery != nil || s.sum != nil {
		t.Error("the server keeps shares")
	}
}

// What decodes is what somebody encoded: with nothing left to a default.
func TestParametersHaveOneEncoding(t *testing.T) {
	p, err := NewParams(spec(Active), 943)
	if err != nil {
		t.Fatal(err)
	}
	p.spec.Minimum = 2
	if _, err := DecodeParams(p.Encode()); err == nil {
		t.Error("a minimum below what follows is decoded")
	}
	s := spec(Active)
	s.Epoch = strings.Repeat("x", maxEpochBytes+1)
	if _, err := NewParams(s, 943); err == nil {
		t.Error("an epoch's name that cannot be decoded is accepted")
	}
}

// Clients are counted in the order of the members, wherever the server stands.
func TestClientsAreCountedWithoutTheServer(t *testing.T) {
	p, err := NewParams(few(Active), 4)
	if err != nil {
		t.Fatal(err)
	}
	for at := range 5 {
		var members []protocol.Member
		for i := range 5 {
			members = append(members, protocol.Member{Name: string(rune('a' + i)), Role: protocol.RoleParty})
		}
		members[at].Role = protocol.RoleServer
		session, err := protocol.NewSession(protocol.Descriptor{Protocol: Name, Version: Version, Params: p.Encode(), Members: members, Purpose: "test"})
		if err != nil {
			t.Fatal(err)
		}
		d, err := newDesk(protocol.Setup{Session: session, Self: members[at].Name}, p, protocol.RoleServer)
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range session.With(protocol.RoleParty) {
			if got, ok := d.clientOf(name); !ok || got != i || d.name(i) != name {
				t.Errorf("the server at %d: %s is client %d, %v, and client %d is %s", at, name, got, ok, i, d.name(i))
			}
		}
		for _, other := range []string{"nobody", d.server()} {
			if _, ok := d.clientOf(other); ok {
				t.Errorf("the server at %d: %s is a client", at, other)
			}
		}
	}
}

// A client that speaks as the server would is refused, early or late.
func TestServersKindsComeFromTheServer(t *testing.T) {
	c := newCrowd(t, spec(Active), 5)
	s, err := NewServer(c.setup("server"), c.params, c.public(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, s)
	s.round = roundUnmask
	for round := roundCohort; round < roundUnmask; round += 2 {
		m := protocol.Message{Header: c.session.Header(c.names[1], "server", round, kindOf(round))}
		if _, err := s.Step(protocol.Received{Message: m}); err == nil {
			t.Errorf("%s from a client is accepted", kindOf(round))
		}
	}
}
