package secagg

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mercer-fl/mercer/protocol"
)

// With an active server, holders depend on the client's own seed and on who is
// there, and on nothing that the server could try out.
func TestPitfall05ClientsDrawTheirHolders(t *testing.T) {
	c := newCohort(t, spec(Active), 100)
	all := everybody(100)
	a := c.params.holders(protocol.SessionID{1}, 5, all, [32]byte{1})
	if b := c.params.holders(protocol.SessionID{2}, 5, all, [32]byte{1}); !slices.Equal(a, b) {
		t.Error("another session id gives other holders: a server could try nonces")
	}
	if b := c.params.holders(protocol.SessionID{1}, 5, all, [32]byte{2}); slices.Equal(a, b) {
		t.Error("another seed gives the same holders")
	}
	if len(a) != c.params.Degree().Holders || slices.Contains(a, 5) {
		t.Errorf("holders %v", a)
	}
	counts := make([]float64, 100)
	for seed := range 2000 {
		for _, h := range c.params.holders(protocol.SessionID{}, 5, all, [32]byte{byte(seed), byte(seed >> 8)}) {
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

// Against semi-honest servers the graph is Harary's ring: holding is mutual.
func TestRingIsMutual(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	c := newCohort(t, spec(SemiHonest), 100)
	all := everybody(100)
	id := protocol.SessionID{3}
	for i := range 100 {
		holders := c.params.holders(id, i, all, [32]byte{})
		if len(holders) != c.params.Degree().Holders || slices.Contains(holders, i) {
			t.Fatalf("holders of %d: %v", i, holders)
		}
		for _, h := range holders {
			if !slices.Contains(c.params.holders(id, h, all, [32]byte{}), i) {
				t.Fatalf("%d holds for %d and not the other way round", h, i)
			}
		}
	}
}

// The ring is another in every session, and not the order of the members, which
// the corrupted may have chosen.
func TestRingIsDrawnBySession(t *testing.T) {
	c := newCohort(t, spec(SemiHonest), 100)
	all := everybody(100)
	shared, beside := 0, 0
	for i := range 100 {
		one := c.params.holders(protocol.SessionID{3}, i, all, [32]byte{})
		other := c.params.holders(protocol.SessionID{4}, i, all, [32]byte{})
		for _, h := range one {
			if slices.Contains(other, h) {
				shared++
			}
			if d := (h - i + 100) % 100; min(d, 100-d) <= len(one)/2 {
				beside++
			}
		}
	}
	// Of n-1 others each is a neighbour with probability k/(n-1).
	k := float64(c.params.Degree().Holders)
	chance := 100 * k * k / 99
	if math.Abs(float64(shared)-chance) > 6*math.Sqrt(chance) || math.Abs(float64(beside)-chance) > 6*math.Sqrt(chance) {
		t.Errorf("%d neighbours in both sessions, %d beside each other among the members; by chance there would be %.0f", shared, beside, chance)
	}
}

// No client has to hold more shares than fit a message.
func TestHoldersAreBounded(t *testing.T) {
	c := newCohort(t, spec(Active), 30)
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
	if _, err := s.Step(protocol.Received{Message: m}); err == nil || !strings.Contains(err.Error(), "already holds shares of as many clients as it can") {
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
