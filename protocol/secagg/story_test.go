package secagg

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// A client answers once, with one kind of share for each other client.
func TestPitfall01BothSharesOfOneClient(t *testing.T) {
	c := newCohort(t, spec(Active), 12)
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
			t.Errorf("%s accepts other survivors after it has answered", name)
		}
	}
	if len(l.released) != 12 {
		t.Errorf("%d clients have answered, want 12", len(l.released))
	}
}

// A second, different list of survivors, while clients sign the first, is not even read.
func TestPitfall01TwoStoriesToOneClient(t *testing.T) {
	c := newCohort(t, spec(Active), 12)
	client, err := c.client(0)
	if err != nil {
		t.Fatal(err)
	}
	all := everybody(12)
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
	if testing.Short() {
		t.Skip("long")
	}
	const victim = 7
	half := func(c *cohort) func(protocol.Message) protocol.Message {
		return func(m protocol.Message) protocol.Message {
			if m.Round == roundSurvivors && c.index(m.Receiver)%2 == 0 {
				return c.rewrite(t, m, func(s set) { remove(s, victim) })
			}
			return m
		}
	}
	c := newCohort(t, spec(Active), 40)
	r, l := c.lie(t, sim.Schedule{}, half(c))
	nobodyReleases(t, l)
	blames(t, r, c.names[victim], "is not valid for the sets of clients that this client received")
	blames(t, r, c.names[0], "is not valid for the sets of clients that this client received")

	// A cleverer server hands each client only the signatures that agree with its list.
	// Some clients answer; but no secret has a threshold of holders for one list, and
	// another threshold for the other.
	c = newCohort(t, spec(Active), 40)
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

	// Against semi-honest servers there is no such round, and the lie works: 20 answers of
	// each kind give the server both secrets of the victim.
	c = newCohort(t, spec(SemiHonest), 40)
	_, l = c.lie(t, sim.Schedule{}, half(c))
	if mask, self := c.sharesOf(l, victim); min(mask, self) < c.params.Degree().Threshold {
		t.Errorf("a semi-honest session gives up %d and %d shares of the victim; the attack should work with %d", mask, self, c.params.Degree().Threshold)
	}
}

// Clients that collude with the server tell it both kinds of shares of every victim. Whichever
// clients these are, as many as the parameters allow for, and however an active server splits a
// victim's honest holders between two lists, it lacks shares of one kind. Clients of a semi-honest
// server all have one list, so there the colluders alone have the other kind.
func TestPitfall02ColludersAreTooFew(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, a := range []Adversary{SemiHonest, Active} {
		for _, corrupted := range []float64{.05, .2} {
			const clients = 100
			s := spec(a)
			s.Corrupted = corrupted
			c := newCohort(t, s, clients)
			var holders [clients][]int
			for victim := range holders {
				holders[victim] = c.params.holders(c.session.ID(), victim, everybody(clients), [32]byte{byte(victim)})
			}
			for range 50 {
				colluders := rng.Perm(clients)[:int(corrupted*clients)]
				most, threshold := 0, c.params.Degree().Threshold
				for victim := range clients {
					both := 0
					for _, h := range holders[victim] {
						if slices.Contains(colluders, h) {
							both++
						}
					}
					if a == Active {
						both += (len(holders[victim]) - both) / 2
					}
					most = max(most, both)
				}
				if most >= threshold {
					t.Fatalf("%s, %v corrupted: the server has %d shares of both kinds of a victim, and the threshold is %d", a, corrupted, most, threshold)
				}
			}
		}
	}
}

// sharesOf counts the shares of a client's two secrets that the server got.
func (c *cohort) sharesOf(l *liar, victim int) (mask, self int) {
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

// A client that is among its own holders counts itself once: with two others left
// it reaches a threshold of three, with one it does not.
func TestPitfall17TheOwnShareCountsOnce(t *testing.T) {
	s := spec(Active)
	s.Dropped, s.Corrupted = .4, 0
	c := newCohort(t, s, 4)
	tell := func(left ...int) error {
		client := must(c.client(0))(t)
		begin(t, client)
		client.awaits = roundSurvivors
		client.params.spec.Minimum = 2 // which would be refused first
		client.cohort, client.sharers = everybody(4), everybody(4)
		client.holders = c.params.holders(c.session.ID(), 0, client.cohort, [32]byte{})
		told := newSet(4)
		for _, i := range left {
			told.add(i)
		}
		h := c.session.Header("server", c.names[0], roundSurvivors, kindSurvivors)
		_, err := client.Step(protocol.Received{Message: protocol.Message{Header: h, Body: encodeSets(told)}})
		return err
	}
	if err := tell(0, 1, 2); err != nil {
		t.Errorf("exactly the threshold: %v", err)
	}
	if err := tell(0, 3); err == nil || !strings.Contains(err.Error(), "2 of this client's holders are left; the threshold is 3") {
		t.Errorf("one fewer: %v", err)
	}
}

// The threshold counts a client's holders among those who have shared and in the sum, not all clients.
// All in the sum have shared.
func TestPitfall17TheThresholdCountsHolders(t *testing.T) {
	c := newCohort(t, spec(Active), 100)
	client, err := c.client(0)
	if err != nil {
		t.Fatal(err)
	}
	all := everybody(100)
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
	m := protocol.Message{Header: c.session.Header("server", c.names[0], roundShares, kindShares), Body: deliveries{sharers: told}.encode()}
	client.awaits = roundShares
	if _, err := client.Step(protocol.Received{Message: m}); err == nil || !strings.Contains(err.Error(), "holders are left; the threshold is 16") {
		t.Errorf("%d of 100 have shared, but too few holders: %v", told.count(), err)
	}
	m = protocol.Message{Header: c.session.Header("server", c.names[0], roundSurvivors, kindSurvivors), Body: encodeSets(told)}
	client.awaits = roundSurvivors
	if _, err := client.Step(protocol.Received{Message: m}); err == nil || !strings.Contains(err.Error(), "holders are left; the threshold is 16") {
		t.Errorf("%d of 100 are left, but too few holders: %v", told.count(), err)
	}
	told.add(holders[len(holders)-1])
	m.Body = encodeSets(told)
	client.sharers = newSet(100)
	copy(client.sharers.bits, all.bits)
	remove(client.sharers, told.list()[1])
	if _, err := client.Step(protocol.Received{Message: m}); err == nil || !strings.Contains(err.Error(), "includes clients that have not shared") {
		t.Errorf("one in the sum has not shared: %v", err)
	}
	client.sharers = all
	if _, err := client.Step(protocol.Received{Message: m}); err != nil {
		t.Errorf("exactly the threshold: %v", err)
	}
}
