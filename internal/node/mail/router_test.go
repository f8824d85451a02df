package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/base/disk/disktest"
	"github.com/mercer-fl/mercer/internal/base/identity"
	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/internal/node/driver"
	"github.com/mercer-fl/mercer/internal/node/mail/envelope"
	"github.com/mercer-fl/mercer/internal/node/roster"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/mem"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	disktest.InMemory()
	goleak.VerifyTestMain(m)
}

// patience is the time that a test waits for what must come.
const patience = 10 * time.Second

var names = []string{"hub", "north", "south", "west"}

// federation is four processes on one network.
type federation struct {
	t       testing.TB
	ids     map[string]*identity.Identity
	conns   map[string]transport.Conn
	routers map[string]*Router
	members *roster.Roster
	network *mem.Network
	log     *journal
	stop    func()
}

// journal collects what is logged, for all to read.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) has(s string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Contains(j.text.String(), s)
}

// newFederation runs everybody's router on a network in memory.
func newFederation(t testing.TB) *federation {
	t.Helper()
	f := newIdleFederation(t)
	f.network = mem.NewNetwork()
	for _, name := range names {
		conn, err := f.network.Join(name)
		if err != nil {
			t.Fatal(err)
		}
		f.conns[name] = conn
	}
	f.run(names...)
	return f
}

// newIdleFederation knows its members, who have no connections yet.
func newIdleFederation(t testing.TB) *federation {
	t.Helper()
	f := &federation{t: t, ids: map[string]*identity.Identity{}, conns: map[string]transport.Conn{}, routers: map[string]*Router{},
		members: &roster.Roster{Federation: "test"}, log: &journal{}, stop: func() {}}
	for i, name := range names {
		id, err := identity.FromSeed([32]byte{1, byte(i)})
		if err != nil {
			t.Fatal(err)
		}
		role := roster.Party
		if i == 0 {
			role = roster.Coordinator
		}
		f.members.Members = append(f.members.Members, roster.Member{Name: name, Role: role, Public: id.Public()})
		f.ids[name] = id
	}
	if err := f.members.Validate(); err != nil {
		t.Fatal(err)
	}
	return f
}

// run runs the exchanges of some members until the test ends, or stop is called.
func (f *federation) run(names ...string) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, name := range names {
		x := New(name, f.ids[name], f.members, f.conns[name], slog.New(slog.NewTextHandler(f.log, nil)).With("self", name))
		f.routers[name] = x
		running.Go(func() {
			if err := x.Run(ctx); !errors.Is(err, context.Canceled) && !errors.Is(err, transport.ErrClosed) {
				f.t.Errorf("Run: %v", err)
			}
		})
	}
	f.stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	f.t.Cleanup(f.stop)
}

// meeting is one session with the keys of its members.
type meeting struct {
	*federation
	*protocol.Session
	keys      map[string]identity.SessionKeys
	directory control.Directory
}

// meet describes a session of hub, north and south.
func (f *federation) meet(nonce byte) *meeting {
	f.t.Helper()
	s, err := protocol.NewSession(protocol.Descriptor{Protocol: "toy", Version: 1, Purpose: "test", Nonce: [32]byte{nonce}, Members: []protocol.Member{
		{Name: "hub", Role: protocol.RoleServer}, {Name: "north", Role: protocol.RoleParty}, {Name: "south", Role: protocol.RoleParty}}})
	if err != nil {
		f.t.Fatal(err)
	}
	m := &meeting{federation: f, Session: s, keys: map[string]identity.SessionKeys{}}
	for i, member := range s.Members {
		if m.keys[member.Name], err = identity.DeriveSession([32]byte{nonce, byte(i)}); err != nil {
			f.t.Fatal(err)
		}
		m.directory = append(m.directory, control.Accept(s.ID(), member.Name, m.keys[member.Name].Public().Bytes(), f.ids[member.Name].SigningKey()))
	}
	return m
}

func (m *meeting) open(name string) *Mailbox {
	m.t.Helper()
	b, err := m.routers[name].Open(m.Session, m.keys[name], m.directory)
	if err != nil {
		m.t.Fatal(err)
	}
	return b
}

func (m *meeting) message(from, to string, n int) protocol.Message {
	h := m.Header(from, to, 0, "Rows")
	h.Sequence = uint32(n)
	return protocol.Message{Header: h, Body: fmt.Appendf(nil, "rows %d of %s", n, from)}
}

// seal builds an envelope that a router would not.
func (f *federation) seal(h protocol.Header, to identity.SessionKeys, signer string) []byte {
	f.t.Helper()
	b, err := envelope.Seal(h, []byte("rows"), to.Public(), f.ids[signer].SigningKey())
	if err != nil {
		f.t.Fatal(err)
	}
	return b
}

// inject sends bytes past the sender's router.
func (f *federation) inject(from, to string, lane transport.Lane, data []byte) {
	f.t.Helper()
	if err := f.conns[from].Send(f.t.Context(), to, lane, data); err != nil {
		f.t.Fatal(err)
	}
}

func (f *federation) send(b *Mailbox, m protocol.Message) {
	f.t.Helper()
	if err := b.Send(f.t.Context(), m); err != nil {
		f.t.Fatal(err)
	}
}

func (f *federation) receive(from <-chan driver.Inbound) driver.Inbound {
	f.t.Helper()
	select {
	case in := <-from:
		if err := in.Ack(); err != nil {
			f.t.Fatal(err)
		}
		return in
	case <-time.After(patience):
		f.t.Fatal("nothing came")
		return driver.Inbound{}
	}
}

func (f *federation) logged(text string) {
	f.t.Helper()
	for end := time.Now().Add(patience); !f.log.has(text); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			f.t.Fatalf("the log does not say %q:\n%s", text, f.log.text.String())
		}
	}
}

// settled asserts that the hub has heard all and acknowledged all: nothing
// waits in its mailbox, nor for its next connection.
func (f *federation) settled(b *Mailbox) {
	f.t.Helper()
	if len(b.In()) > 0 {
		f.t.Fatalf("%v came", (<-b.In()).Message.Header)
	}
	if err := f.conns["hub"].Close(); err != nil {
		f.t.Fatal(err)
	}
	next, err := f.network.Join("hub")
	if err != nil {
		f.t.Fatal(err)
	}
	for _, lane := range transport.Lanes() {
		ctx, stop := context.WithTimeout(f.t.Context(), 20*time.Millisecond)
		defer stop()
		if d, err := next.Receive(ctx, lane); !errors.Is(err, context.DeadlineExceeded) {
			f.t.Fatalf("%d bytes were not acknowledged (%v)", len(d.Data), err)
		}
	}
}

func TestMessagesReachTheirSession(t *testing.T) {
	f := newFederation(t)
	one, two := f.meet(1), f.meet(2)
	hub1, hub2, north1, north2 := one.open("hub"), two.open("hub"), one.open("north"), two.open("north")
	f.send(north1, one.message("north", "hub", 1))
	f.send(north2, two.message("north", "hub", 2))
	f.send(hub1, one.message("hub", "north", 3))
	for _, c := range []struct {
		box  *Mailbox
		want protocol.Message
	}{{hub1, one.message("north", "hub", 1)}, {hub2, two.message("north", "hub", 2)}, {north1, one.message("hub", "north", 3)}} {
		got := f.receive(c.box.In())
		if got.Fault != nil || got.Message.Header != c.want.Header || !bytes.Equal(got.Message.Body, c.want.Body) {
			t.Errorf("got %v %q (%v), want %v", got.Message.Header, got.Message.Body, got.Fault, c.want.Header)
		}
	}
}

// Until a signature verifies, nobody but the transport is blamed, and the
// session hears nothing of it.
func TestForgeriesAreDropped(t *testing.T) {
	f := newFederation(t)
	m := f.meet(1)
	hub, north := m.open("hub"), m.open("north")
	good := m.message("north", "hub", 1).Header
	stranger := good
	stranger.Sender = "east"
	elsewhere := good
	elsewhere.Receiver = "south"
	outsider := good
	outsider.Sender = "west" // of the roster, not of the session
	other := good
	other.Protocol = "another"
	tampered := f.seal(good, m.keys["hub"], "north")
	tampered[len(tampered)/2]++
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"signed by another member", f.seal(good, m.keys["hub"], "south"), "transport (transport): envelope: the signature in the name of \\\"north\\\""},
		{"tampered with", tampered, "transport (transport)"},
		{"a stranger", f.seal(stranger, m.keys["hub"], "south"), "transport (transport): envelope: the sender \\\"east\\\" is not in the roster"},
		{"for somebody else", f.seal(elsewhere, m.keys["hub"], "north"), "transport (transport): envelope: the message from \\\"north\\\" for \\\"south\\\""},
		{"not a member", f.seal(outsider, m.keys["hub"], "west"), "west (foreign)"},
		{"of another protocol", f.seal(other, m.keys["hub"], "north"), "north (foreign)"},
		{"no envelope", []byte("hello"), "which are too few"},
		{"nothing", nil, "has 0 bytes, which are too few"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.inject("south", "hub", transport.Bulk, c.data)
			f.logged(c.want)
		})
	}
	f.send(north, m.message("north", "hub", 2))
	if got := f.receive(hub.In()); got.Message.Sequence != 2 || got.Fault != nil {
		t.Fatalf("got %+v", got)
	}
	f.settled(hub)
}

// A member who signs what nobody can open has signed its own fault.
func TestSealedToAnotherKeyIsTheSendersFault(t *testing.T) {
	f := newFederation(t)
	m := f.meet(1)
	hub := m.open("hub")
	h := m.message("north", "hub", 1).Header
	f.inject("north", "hub", transport.Bulk, f.seal(h, m.keys["south"], "north"))
	got := f.receive(hub.In())
	var blame *protocol.BlameError
	if !errors.As(got.Fault, &blame) || blame.Party != "north" || got.Message.Header != h || got.Message.Body != nil {
		t.Fatalf("got %+v, want a fault of north", got)
	}
}

func TestUnknownSessionIsDroppedAndAnnouncedWaits(t *testing.T) {
	f := newFederation(t)
	m := f.meet(1)
	north := m.open("north")
	f.send(north, m.message("north", "hub", 1))
	f.logged("is not open here")

	f.routers["hub"].Announce(m.Session)
	f.send(north, m.message("north", "hub", 2))
	time.Sleep(2 * waitForBegin) // it is put back at least once
	hub := m.open("hub")
	if got := f.receive(hub.In()); got.Message.Sequence != 2 {
		t.Fatalf("got %v, want the message that came after the announcement", got.Message.Header)
	}
	f.settled(hub)
}

func TestForgottenSessionHearsNothing(t *testing.T) {
	f := newFederation(t)
	m := f.meet(1)
	north := m.open("north")
	f.routers["hub"].Announce(m.Session)
	hub := m.open("hub")
	f.routers["hub"].Forget(m.ID())
	f.send(north, m.message("north", "hub", 1))
	f.logged("is not open here")
	f.settled(hub)
}

// A driver that does not read, and a daemon that does not listen, hold up
// nobody else; and nothing is lost.
func TestBusyReceiversHoldUpNobody(t *testing.T) {
	f := newFederation(t)
	busy, brisk := f.meet(1), f.meet(2)
	hubBusy, hubBrisk := busy.open("hub"), brisk.open("hub")
	northBusy, northBrisk := busy.open("north"), brisk.open("north")
	const n = 3 * mailboxSize
	for i := range n {
		f.send(northBusy, busy.message("north", "hub", i))
		if err := f.routers["south"].Tell(t.Context(), "hub", busy.ID(), fmt.Sprint(i), nil); err != nil {
			t.Fatal(err)
		}
	}
	f.send(northBrisk, brisk.message("north", "hub", 0))
	f.receive(hubBrisk.In())
	messages, controls := make(map[uint32]bool), make(map[string]bool)
	for range n {
		messages[f.receive(hubBusy.In()).Message.Sequence] = true
		controls[f.receive(f.routers["hub"].Control()).Message.Kind] = true
	}
	if len(messages) != n || len(controls) != n {
		t.Fatalf("%d messages and %d controls of %d each", len(messages), len(controls), n)
	}
}

func TestControl(t *testing.T) {
	f := newFederation(t)
	id := protocol.SessionID{5}
	if err := f.routers["north"].Tell(t.Context(), "hub", id, "Report", []byte("done")); err != nil {
		t.Fatal(err)
	}
	got := f.receive(f.routers["hub"].Control()).Message
	if got.Sender != "north" || got.Session != id || got.Kind != "Report" || string(got.Body) != "done" {
		t.Fatalf("got %+v", got)
	}
	// Control messages are sealed to the identity, so that they are opened by
	// no session's key.
	h := got.Header
	h.Sequence = 1
	m := f.meet(1)
	f.inject("north", "hub", transport.Bulk, f.seal(h, m.keys["hub"], "north"))
	f.logged("is not sealed to this session's key")
	if err := f.routers["north"].Tell(t.Context(), "east", id, "Report", nil); err == nil || !strings.Contains(err.Error(), `"east" is not in the roster`) {
		t.Fatalf("telling a stranger: %v", err)
	}
}

func TestMailboxRefusesForeignMessages(t *testing.T) {
	f := newFederation(t)
	m := f.meet(1)
	north := m.open("north")
	for name, message := range map[string]protocol.Message{
		"another sender":   m.message("south", "hub", 0),
		"another session":  f.meet(2).message("north", "hub", 0),
		"another receiver": m.message("north", "west", 0),
	} {
		if err := north.Send(t.Context(), message); err == nil || !strings.Contains(err.Error(), "does not belong") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpenBlamesWhoeverGaveAnUnusableKey(t *testing.T) {
	f := newFederation(t)
	m := f.meet(1)
	m.directory[2].Key = []byte("short")
	_, err := f.routers["hub"].Open(m.Session, m.keys["hub"], m.directory)
	var blame *protocol.BlameError
	if !errors.As(err, &blame) || blame.Party != "south" {
		t.Fatalf("%v, want blame on south", err)
	}
}

func TestRunEndsWithTheConnection(t *testing.T) {
	network := mem.NewNetwork()
	conn, err := network.Join("alone")
	if err != nil {
		t.Fatal(err)
	}
	x := New("alone", nil, &roster.Roster{}, conn, slog.New(slog.DiscardHandler))
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := x.Run(t.Context()); !errors.Is(err, transport.ErrClosed) {
		t.Fatal(err)
	}
}
