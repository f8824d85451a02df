package secagg

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/sim"
)

// Messages of a client that counts as dropped are not used.
func TestPitfall08LateVectorsAreNotAdded(t *testing.T) {
	c := newCohort(t, spec(Active), 30)
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

// A last share that arrives while the masks are being removed does not start the removal
// again: the masks would be removed twice.
func TestPitfall08LateSharesAreNotUsed(t *testing.T) {
	c := newCohort(t, spec(Active), 30)
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

// Clients that start to send a vector and stop occupy the room for vectors until the server
// drops them: the waiting clients still contribute.
func TestStalledVectorsMakeRoom(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s := Spec{Dropped: .3, Minimum: 2, Epoch: "1", Groups: []Group{{Entries: 70_000, Bound: 1 << 40}}}
	c := newCohort(t, s, 12)
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

// A repeated piece does not replace a missing one, and a piece of another length is
// refused.
func TestPiecesOfAVectorComeOnce(t *testing.T) {
	c := newCohort(t, Spec{Minimum: 2, Epoch: "1", Groups: []Group{{Entries: 70_000, Bound: 1 << 40}}}, 5)
	s, err := NewServer(c.setup("server"), c.params, c.public(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, s)
	s.round, s.sharers = roundMasked, s.all
	piece := func(i, words int) protocol.Message {
		m := protocol.Message{Header: c.session.Header(c.names[1], "server", roundMasked, kindMasked), Body: make([]byte, 8*words)}
		m.Chunk, m.Chunks = uint32(i), 2
		m.Body[0] = 1
		return m
	}
	lo, hi := c.params.Layout().chunk(1)
	for _, tt := range []struct {
		name    string
		piece   protocol.Message
		refused bool
	}{
		{"short", piece(0, lo-1), true},
		{"first", piece(0, lo), false},
		{"first again", piece(0, lo), true},
		{"long", piece(1, hi-lo+1), true},
		{"last", piece(1, hi-lo), false},
	} {
		if s.survivors.has(1) {
			t.Fatalf("%s: the client is in the sum already", tt.name)
		}
		if _, err := s.Step(protocol.Received{Message: tt.piece}); (err != nil) != tt.refused {
			t.Fatalf("%s piece: %v", tt.name, err)
		}
	}
	if !s.survivors.has(1) || s.sum[0] != 1 || s.sum[lo] != 1 {
		t.Errorf("in the sum: %v, which begins with %d and goes on with %d", s.survivors.has(1), s.sum[0], s.sum[lo])
	}
}

// A late message of a dropped client is not used, and is no offence.
func TestStalledVectorsDoNotGoOn(t *testing.T) {
	c := newCohort(t, spec(Active), 5)
	s, err := NewServer(c.setup("server"), c.params, c.public(), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	begin(t, s)
	s.round, s.sharers = roundMasked, s.all
	s.peers[1].upload = s.newUpload()
	s.dropIncomplete()
	m := protocol.Message{Header: c.session.Header(c.names[1], "server", roundMasked, kindMasked), Body: make([]byte, 8*c.params.Layout().Words())}
	if _, err := s.Step(protocol.Received{Message: m}); err != nil || s.survivors.has(1) || s.uploads != 0 {
		t.Errorf("%v, in the sum: %v, %d uploads", err, s.survivors.has(1), s.uploads)
	}
}

// With spare room nobody waits for it: clients that stopped are dropped like all that
// vanish.
func TestFewStalledVectorsAreDropped(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	s := Spec{Dropped: .3, Minimum: 2, Epoch: "1", Groups: []Group{{Entries: 70_000, Bound: 1 << 40}}}
	c := newCohort(t, s, 12)
	r := c.run(t, sim.Schedule{}, func(m protocol.Message) []protocol.Message {
		if m.Round == roundMasked && m.Chunk == 1 && m.Sender == c.names[5] {
			return nil
		}
		return []protocol.Message{m}
	})
	c.checkSum(t, r, 11)
}

// A client whose vector the server no longer takes ends by its timer, too.
func TestStuckClientEnds(t *testing.T) {
	c := newCohort(t, spec(Active), 5)
	client, err := c.client(1)
	if err != nil {
		t.Fatal(err)
	}
	begin(t, client)
	client.masks = []Mask{{}}
	e, err := client.Step(protocol.Expired{Timer: TimerServer})
	if err != nil || e.End == nil || !strings.Contains(e.End.Err.Error(), "server (silent)") {
		t.Errorf("%+v, %v", e, err)
	}
}
