package dropout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/protocol/memory"
)

// The test's protocol: a client sends two pieces and then a farewell; the server
// takes a client's second piece only when it has room, answers everybody once all
// pieces are in or its patience is over, and ends with the farewells.
type toyClient struct {
	session *protocol.Session
	name    string
	claim   string
	fails   bool
}

func (c *toyClient) send(kind string, chunk, chunks uint32) protocol.Message {
	h := c.session.Header(c.name, "server", 0, kind)
	h.Chunk, h.Chunks = chunk, chunks
	return protocol.Message{Header: h, Body: []byte{1, 2}}
}

func (c *toyClient) Step(e protocol.Event) (protocol.Effects, error) {
	switch e.(type) {
	case protocol.Start:
		return protocol.Effects{Claim: []string{c.claim}, Send: []protocol.Message{c.send("Piece", 0, 2)}, Resume: true}, nil
	case protocol.Resumed:
		return protocol.Effects{Send: []protocol.Message{c.send("Piece", 1, 2)}}, nil
	case protocol.Received:
		if c.fails {
			return protocol.Effects{}, errors.New("the answer is wrong")
		}
		return protocol.Effects{Send: []protocol.Message{c.send("Farewell", 0, 1)}, End: &protocol.End{}}, nil
	}
	return protocol.Effects{}, errors.New("unexpected")
}

type toyServer struct {
	session  *protocol.Session
	patient  bool // arms a timer
	room     int
	half     map[string]bool
	whole    []string
	farewell []string
	put      int // messages that had to wait
	answered bool
	queue    []protocol.Message
}

func (s *toyServer) Step(e protocol.Event) (protocol.Effects, error) {
	var out protocol.Effects
	if s.patient {
		out.Arm = []protocol.Timer{"toy"}
	}
	switch e := e.(type) {
	case protocol.Received:
		return s.take(e.Message, out)
	case protocol.Resumed:
		out.Send, s.queue = s.queue[:1], s.queue[1:]
		out.Resume = len(s.queue) > 0
	case protocol.Expired:
		if s.answered {
			out.End = &protocol.End{}
			return out, nil
		}
		return s.answer(out), nil
	}
	return out, nil
}

func (s *toyServer) take(m protocol.Message, out protocol.Effects) (protocol.Effects, error) {
	switch {
	case m.Kind == "Farewell":
		s.farewell = append(s.farewell, m.Sender)
		if len(s.farewell) == len(s.whole) {
			out.End = &protocol.End{}
		}
	case m.Chunk == 0 && len(s.half) == s.room:
		s.put++
		return protocol.Effects{}, protocol.ErrLater
	case m.Chunk == 0:
		s.half[m.Sender] = true
	default:
		delete(s.half, m.Sender)
		s.whole = append(s.whole, m.Sender)
		if len(s.whole) == len(s.session.Members)-1 {
			return s.answer(out), nil
		}
	}
	return out, nil
}

func (s *toyServer) answer(out protocol.Effects) protocol.Effects {
	s.answered = true
	for _, name := range s.whole {
		s.queue = append(s.queue, protocol.Message{Header: s.session.Header("server", name, 1, "Answer"), Body: []byte{3}})
	}
	out.Resume = len(s.queue) > 0
	return out
}

func toy(t *testing.T, clients int) (*toyServer, Config) {
	t.Helper()
	members := []protocol.Member{{Name: "server", Role: protocol.RoleServer}}
	for i := range clients {
		members = append(members, protocol.Member{Name: fmt.Sprintf("c%02d", i), Role: protocol.RoleParty})
	}
	session, err := protocol.NewSession(protocol.Descriptor{Protocol: "toy", Members: members})
	if err != nil {
		t.Fatal(err)
	}
	server := &toyServer{session: session, patient: true, room: 3, half: make(map[string]bool)}
	c := Config{Session: session, Server: server}
	for _, m := range members[1:] {
		c.Clients = append(c.Clients, Client{Name: m.Name, Machine: &toyClient{session: session, name: m.Name, claim: "once"}, Ledger: &memory.Ledger{}})
	}
	return server, c
}

func TestEverybodyStays(t *testing.T) {
	server, c := toy(t, 40)
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Stayed) != 40 || len(r.Failures) != 0 || len(server.whole) != 40 || len(server.farewell) != 40 {
		t.Errorf("%d stayed, %v failed, %d came whole, %d said farewell", len(r.Stayed), r.Failures, len(server.whole), len(server.farewell))
	}
	if server.put == 0 {
		t.Error("the server never had to put a client off: the test does not test it")
	}
	if r.Traffic != (Traffic{ToServer: 40 * 6, FromServer: 40}) {
		t.Errorf("%+v", r.Traffic)
	}
}

// Only the server misses a client that vanishes, at any message.
func TestSomeVanish(t *testing.T) {
	server, c := toy(t, 20)
	c.Clients[3].LeavesBefore, c.Clients[7].LeavesBefore = "Piece", "Farewell"
	c.Clients[11].Machine.(*toyClient).fails = true
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(server.whole) != 19 || len(server.farewell) != 17 || len(r.Stayed) != 17 {
		t.Errorf("%d came whole, %d said farewell, %d stayed", len(server.whole), len(server.farewell), len(r.Stayed))
	}
	if len(r.Failures) != 1 || r.Failures[0].Client != "c11" || r.Failures[0].Err.Error() != "the answer is wrong" {
		t.Errorf("failures %v", r.Failures)
	}
}

// The order in which the server hears of clients is always the same.
func TestOrderIsFixed(t *testing.T) {
	var orders [][]string
	for range 3 {
		server, c := toy(t, 40)
		if _, err := Run(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		orders = append(orders, server.whole)
	}
	if d := cmp.Diff(orders[0], orders[1]) + cmp.Diff(orders[0], orders[2]); d != "" {
		t.Error(d)
	}
}

// A name that one session has is refused to the next, and the client is out.
func TestLedger(t *testing.T) {
	server, c := toy(t, 4)
	other := protocol.SessionID{1}
	if err := c.Clients[2].Ledger.Claim("c02", "once", other); err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if len(server.whole) != 3 || len(r.Failures) != 1 || !strings.Contains(r.Failures[0].Err.Error(), `the name "once" of `) {
		t.Errorf("%v came whole, failures %v", server.whole, r.Failures)
	}
}

func TestRunRefuses(t *testing.T) {
	server, c := toy(t, 4)
	server.patient = false
	c.Clients[0].LeavesBefore = "Piece"
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "no member can continue and no timer") {
		t.Errorf("a session that cannot end: %v", err)
	}
	_, c = toy(t, 4)
	c.Clients[1].Name = "c00"
	if _, err := Run(t.Context(), c); err == nil {
		t.Error("a client takes part twice")
	}
	_, c = toy(t, 4)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Run(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("a run goes on after it was cancelled: %v", err)
	}
}
