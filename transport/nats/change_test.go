package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/mercer-fl/mercer/transport"
)

// watched joins a member and counts how often its connection was opened.
func (f *federation) watched(name string) (transport.Conn, *atomic.Int32) {
	f.Helper()
	var opened atomic.Int32
	c, err := Dial(f.Context(), f.url(), name, f.keys[name], Options{TLS: f.pin(), Logger: f.cfg.Logger, Connected: func(is bool) {
		if is {
			opened.Add(1)
		}
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := c.Close(); err != nil {
			f.Error(err)
		}
	})
	return c, &opened
}

// receiveText receives one message and acknowledges it.
func (f *federation) receiveText(c transport.Conn, want string) {
	f.Helper()
	d := f.receive(c)
	if string(d.Data) != want {
		f.Fatalf("got %q, want %q", d.Data, want)
	}
	if err := d.Ack(); err != nil {
		f.Fatal(err)
	}
}

// onEachPort runs a test on a server that members call by TCP without TLS, and on one by WebSocket.
func onEachPort(t *testing.T, test func(*testing.T, *federation)) {
	t.Run("TCP", func(t *testing.T) { test(t, newFederation(t, nil)) })
	t.Run("WebSocket", func(t *testing.T) { test(t, newFederation(t, byWSS)) })
}

// A member joins and another is removed while the server runs. The newcomer sends and receives within 5
// seconds. The others keep their connections and their queues.
func TestMembersChange(t *testing.T) {
	onEachPort(t, func(t *testing.T, f *federation) {
		north, opened := f.watched("north")
		f.send(north, "south", "before")
		west := f.newMember("west")
		began := time.Now()
		f.changeTo(append(without(f.cfg.Members, []Member{{Name: "east"}}), west)...)
		newcomer := f.join("west")
		f.send(north, "west", "welcome")
		f.receiveText(newcomer, "welcome")
		f.send(newcomer, "north", "thanks")
		f.receiveText(north, "thanks")
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the change took %v", took)
		}
		south := f.join("south")
		f.receiveText(south, "before")
		if n := opened.Load(); n != 1 {
			t.Errorf("a member that stays connected %d times", n)
		}
		if f.cfg.WSS != "" {
			f.cfg.WSS = f.server.WSS()
		}
		f.restart(0) // the next start agrees with the change
		f.send(north, "west", "again")
		f.receiveText(newcomer, "again")
	})
}

// A removed member's open connection ends, and it cannot connect again. Its queue is deleted, and nobody
// can send to it.
func TestRemovedMember(t *testing.T) {
	onEachPort(t, func(t *testing.T, f *federation) {
		north, east := f.join("north"), f.join("east")
		f.send(north, "east", "secret")
		old, complaints := f.raw("east")
		f.changeTo(without(f.cfg.Members, []Member{{Name: "east"}})...)

		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var refused *CredentialError
		if err := east.Send(ctx, "north", transport.Bulk, []byte("still here")); !errors.As(err, &refused) {
			t.Errorf("a removed member sends: %v", err)
		}
		if _, err := east.Receive(ctx, transport.Bulk); !errors.As(err, &refused) || !strings.Contains(err.Error(), "has removed the member from the roster") {
			t.Errorf("a removed member receives: %v", err)
		}
		if _, err := f.dial("east"); !errors.As(err, &refused) || refused.Known {
			t.Errorf("a removed member connects: %v", err)
		}
		f.eventually("the removed member's own client is not closed", func() bool { return old.IsClosed() || old.IsReconnecting() })
		if err := north.Send(ctx, "east", transport.Bulk, []byte("hello")); !errors.Is(err, transport.ErrNoMember) {
			t.Errorf("a message to a removed member: %v", err)
		}
		if stored := f.stored(); len(stored) > 0 {
			t.Errorf("the removed member's queue remains: %v", stored)
		}
		if _, open := f.connection("east"); open {
			t.Error("the removed member is in the list of connections")
		}
		for len(complaints) > 0 {
			if err := <-complaints; !errors.Is(err, natsgo.ErrAuthorization) {
				t.Errorf("the removed member was told %v", err)
			}
		}
	})
}

// A member that comes back finds an empty queue and can send.
func TestMemberComesBack(t *testing.T) {
	f := newFederation(t, nil)
	all := f.cfg.Members
	north := f.join("north")
	f.send(north, "east", "lost")
	f.changeTo(without(all, []Member{{Name: "east"}})...)
	f.changeTo(all...)
	east := f.join("east")
	f.send(north, "east", "found")
	f.receiveText(east, "found")
	f.send(east, "north", "here")
	f.receiveText(north, "here")
}

// A member with another key has its former queue, and its former key is refused.
func TestMemberChangesKey(t *testing.T) {
	f := newFederation(t, nil)
	north, before := f.join("north"), f.join("east")
	f.send(north, "east", "kept")
	again := slices.Clone(f.cfg.Members)
	again[slices.IndexFunc(again, func(m Member) bool { return m.Name == "east" })] = f.newMember("east")
	f.changeTo(again...)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	for before.(*conn).nc.IsConnected() && ctx.Err() == nil {
		time.Sleep(time.Millisecond) // a message that is under way while the server closes the connection may arrive
	}
	var refused *CredentialError
	if err := before.Send(ctx, "north", transport.Bulk, []byte("old key")); !errors.As(err, &refused) {
		t.Errorf("a member with its former key sends: %v", err)
	}
	east := f.join("east")
	f.receiveText(east, "kept")
	f.send(east, "north", "new key")
	f.receiveText(north, "new key")
}

// A change makes no share smaller while members send.
func TestChangeKeepsShares(t *testing.T) {
	f := newFederation(t, func(c *Config) { c.MaxBytes = 4 * 24 << 20 }) // 24 MiB for three others: a share of 8
	north := f.join("north")
	f.changeTo(append(slices.Clone(f.cfg.Members), f.newMember("west"))...)
	for range 8 {
		f.send(north, "south", "x")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := north.Send(ctx, "south", transport.Bulk, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a ninth message: %v", err)
	}
}

// Members that cannot be are refused, and those before stay.
func TestChangeRefused(t *testing.T) {
	f := newFederation(t, func(c *Config) { c.Center = "server" })
	north := f.join("north")
	all := f.cfg.Members
	stranger := Member{Name: "west", Key: all[0].Key}
	for what, members := range map[string][]Member{
		"the key of another": append(slices.Clone(all), stranger),
		"no center":          without(all, []Member{{Name: "server"}}),
		"nobody":             nil,
		"a bad name":         append(slices.Clone(all), Member{Name: "a b", Key: f.newMember("x").Key}),
	} {
		if err := f.server.Change(t.Context(), members, nil); err == nil {
			t.Errorf("%s: changed", what)
		}
	}
	south := f.join("south")
	f.send(north, "south", "as before")
	f.receiveText(south, "as before")
}

// Messages between members that stay arrive without a long pause, each at least once, while others come
// and go.
func TestChangesUnderTraffic(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := newFederation(t, nil)
	north, opened := f.watched("north")
	south := f.join("south")
	all, west := f.cfg.Members, f.newMember("west")
	changed := make(chan error, 1)
	go func() {
		var errs error
		for range 20 {
			errs = errors.Join(errs, f.server.Change(t.Context(), append(slices.Clone(all), west), nil), f.server.Change(t.Context(), all, nil))
		}
		changed <- errs
	}()
	var worst time.Duration
	for i, over := 0, false; !over; i++ {
		select {
		case err := <-changed:
			over = true
			if err != nil {
				t.Fatal(err)
			}
		default:
		}
		worst = max(worst, f.pass(north, south, fmt.Sprint(i)))
	}
	t.Logf("slowest message: %v", worst)
	if worst > 5*time.Second {
		t.Errorf("a message took %v", worst)
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("a member that stays connected %d times", n)
	}
}

// pass sends a text from north to south and returns the time until it has arrived. Earlier texts may
// arrive again before it.
func (f *federation) pass(north, south transport.Conn, text string) time.Duration {
	f.Helper()
	began := time.Now()
	f.send(north, "south", text)
	for {
		d := f.receive(south)
		if err := d.Ack(); err != nil {
			f.Fatal(err)
		}
		if string(d.Data) == text {
			return time.Since(began)
		}
	}
}
