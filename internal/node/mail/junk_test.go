package mail

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/mercer-fl/mercer/internal/node/control"
	"github.com/mercer-fl/mercer/protocol"
	"github.com/mercer-fl/mercer/transport"
	"github.com/mercer-fl/mercer/transport/nats"
)

// onBroker moves a federation to a broker as the daemons have it, with all defaults.
func (f *federation) onBroker() *federation {
	f.t.Helper()
	cfg := nats.Config{Dir: f.t.TempDir(), Center: "hub"}
	for _, name := range names {
		cfg.Members = append(cfg.Members, nats.Member{Name: name, Key: f.ids[name].Public().NKey})
	}
	server, err := nats.Start(f.t.Context(), cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := server.Shutdown(context.Background()); err != nil {
			f.t.Error(err)
		}
	})
	for _, name := range names {
		conn, err := nats.Dial(f.t.Context(), server.URL(), name, f.ids[name].NKey(), nats.Options{})
		if err != nil {
			f.t.Fatal(err)
		}
		f.t.Cleanup(func() {
			if err := conn.Close(); err != nil {
				f.t.Error(err)
			}
		})
		f.conns[name] = conn
	}
	return f
}

// junk is a message in the name of a member that nobody has signed and nobody can
// open.
func junk(h protocol.Header) []byte {
	head := h.Encode()
	b := binary.LittleEndian.AppendUint16(nil, uint16(len(head)))
	b = append(b, head...)
	return append(b, make([]byte, 1088+32+16+64)...)
}

// A member sends as much as the broker takes, for a session that the receiver has
// accepted and that has not begun: the receiver hears its coordinator and the other
// members all the same, also after a restart. Messages that nobody has signed, or
// that somebody has signed who is no member of the session, are dropped, and the log
// names who sent them. The strongest sender is a member of the session, who signs:
// its messages wait, and fill its own share only.
func TestFloodForAnAnnouncedSession(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	for _, c := range []struct {
		name, sender string
		signed, kept bool
	}{
		{"unsigned, by a stranger to the session", "west", false, false},
		{"unsigned, by a member of the session", "south", false, false},
		{"signed, by a stranger to the session", "west", true, false},
		{"signed, by a member of the session", "south", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newIdleFederation(t).onBroker()
			m := f.meet(1)
			f.run("hub", "north")
			f.routers["north"].Announce(m.Session)
			for i := range 256 { // all that the broker takes
				h := m.message(c.sender, "north", i).Header
				data := junk(h)
				if c.signed {
					data = f.seal(h, m.keys["north"], c.sender)
				}
				f.inject(c.sender, "north", transport.Bulk, data)
			}
			if !c.kept {
				f.logged(fmt.Sprintf("sender=%s \"so far\"=256", c.sender))
			}
			f.told("north")
			f.stop()
			f.run("hub", "north") // a restart
			f.routers["north"].Announce(m.Session)
			f.told("north")
			box := m.open("north")
			f.send(m.open("hub"), m.message("hub", "north", 1000))
			for f.receive(box.In()).Message.Sequence != 1000 {
			}
		})
	}
}

// told fails if a member does not hear its coordinator at once.
func (f *federation) told(name string) {
	f.t.Helper()
	for _, kind := range []string{control.KindDirectory, control.KindClosing} {
		if err := f.routers["hub"].Tell(f.t.Context(), name, protocol.SessionID{1}, kind, nil); err != nil {
			f.t.Fatal(err)
		}
		began := time.Now()
		if got := f.receive(f.routers[name].Control()).Message.Kind; got != kind {
			f.t.Fatalf("%s came, want %s", got, kind)
		}
		if took := time.Since(began); took > patience/2 {
			f.t.Errorf("%s heard %s after %v", name, kind, took)
		}
	}
}

// A session's message in the control lane takes no place there, even if a member has
// signed it.
func TestControlLaneIsForControl(t *testing.T) {
	f := newFederation(t)
	m := f.meet(1)
	hub := m.open("hub")
	f.inject("north", "hub", transport.Control, f.seal(m.message("north", "hub", 1).Header, m.keys["hub"], "north"))
	f.logged("because it is not a control message")
	f.settled(hub)
}

// Messages that an earlier version's broker holds from the time before lanes are received.
func TestControlInTheBulkLane(t *testing.T) {
	f := newFederation(t)
	h := protocol.Header{Session: protocol.SessionID{5}, Protocol: Control, Kind: control.KindClosing, Sender: "hub", Receiver: "north", Chunks: 1}
	north, ok := f.routers["hub"].members.Load().Lookup("north")
	if !ok {
		t.Fatal("north is not in the roster")
	}
	key, err := north.KEMKey()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.routers["hub"].post(t.Context(), transport.Bulk, h, []byte("closing"), key); err != nil {
		t.Fatal(err)
	}
	if got := f.receive(f.routers["north"].Control()).Message; string(got.Body) != "closing" {
		t.Fatalf("%q came", got.Body)
	}
}
