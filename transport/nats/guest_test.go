package nats

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/mercer-fl/mercer/transport"
)

// withGuests lets guests ask; the answer repeats the guest's name and request.
func withGuests(c *Config) {
	c.AnswerGuest = func(guest string, request []byte) []byte { return append([]byte(guest+" says "), request...) }
}

// newGuest draws a guest's secret.
func newGuest(t *testing.T, name string, seed byte) (nkeys.KeyPair, Member) {
	t.Helper()
	key, err := GuestKey([32]byte{seed})
	if err != nil {
		t.Fatal(err)
	}
	pub, err := key.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return key, Member{Name: name, Key: pub}
}

func (f *federation) ask(guest string, key nkeys.KeyPair, request []byte) (string, error) {
	ctx, cancel := context.WithTimeout(f.Context(), 2*time.Second)
	defer cancel()
	b, err := AskAsGuest(ctx, f.url(), guest, key, Options{TLS: f.pin()}, request)
	return string(b), err
}

// A guest that is added while the server runs gets an answer, until it is removed. Members notice nothing.
func TestGuest(t *testing.T) {
	for name, line := range map[string]func(*Config){"TCP": withGuests, "WebSocket": func(c *Config) { withGuests(c); byWSS(c) }} {
		t.Run(name, func(t *testing.T) {
			f := newFederation(t, line)
			_, opened := f.watched("north")
			key, guest := newGuest(t, "west", 1)
			var unknown *GuestError
			if _, err := f.ask("west", key, nil); !errors.As(err, &unknown) {
				t.Errorf("a guest before its invitation: %v", err)
			}
			if err := f.server.Change(t.Context(), f.cfg.Members, []Member{guest}); err != nil {
				t.Fatal(err)
			}
			if got, err := f.ask("west", key, []byte("hello")); err != nil || got != "west says hello" {
				t.Errorf("%q, %v", got, err)
			}
			other, _ := newGuest(t, "west", 2)
			if _, err := f.ask("west", other, nil); !errors.As(err, &unknown) || !strings.Contains(err.Error(), "ask for a new one") {
				t.Errorf("a guest with another secret: %v", err)
			}
			if err := f.server.Change(t.Context(), f.cfg.Members, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := f.ask("west", key, nil); !errors.As(err, &unknown) {
				t.Errorf("a guest after its time: %v", err)
			}
			if n := opened.Load(); n != 1 {
				t.Errorf("a member connected %d times", n)
			}
		})
	}
}

// guest logs in as a guest with a client that follows no rules.
func (f *federation) guest(name string, key nkeys.KeyPair) (*natsgo.Conn, <-chan error) {
	f.Helper()
	pub, err := key.PublicKey()
	if err != nil {
		f.Fatal(err)
	}
	complaints := make(chan error, 100)
	nc, err := f.client(natsgo.Nkey(pub, key.Sign), natsgo.CustomInboxPrefix(replyPrefix(name)),
		natsgo.ErrorHandler(func(_ *natsgo.Conn, _ *natsgo.Subscription, err error) { complaints <- err }))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(nc.Close)
	return nc, complaints
}

// A guest can do nothing but ask in its own name: not even a guest with the name of a member.
func TestGuestMayNot(t *testing.T) {
	f := newFederation(t, withGuests)
	key, guest := newGuest(t, "north", 1)
	if err := f.server.Change(t.Context(), f.cfg.Members, []Member{guest}); err != nil {
		t.Fatal(err)
	}
	f.send(f.join("south"), "north", "secret")
	nc, complaints := f.guest("north", key)
	for what, subj := range map[string]string{
		"speak as the member":          subject(transport.Bulk, "north", "south"),
		"ask for deliveries":           askSubject(transport.Bulk, "north", "x"),
		"command":                      subject(transport.Control, "north", "server"),
		"ask as another":               guestSubject("west"),
		"reset a queue":                resetSubject(transport.Bulk, "north"),
		"pass for another process":     twinSubject("north"),
		"ask the system":               "$SYS.REQ.SERVER.PING",
		"look at the stream":           "$JS.API.STREAM.INFO.MERCER",
		"speak where nobody will hear": "chat",
	} {
		if err := nc.PublishRequest(subj, replyPrefix("north")+".x", nil); err != nil {
			t.Fatal(err)
		}
		expectViolation(t, complaints, what)
	}
	for what, subj := range map[string]string{"everything": ">", "deliveries": boxSubject("north", ">"), "the requests of guests": guestSubject("*")} {
		if _, err := nc.SubscribeSync(subj); err != nil {
			t.Fatal(err)
		}
		expectViolation(t, complaints, "hear "+what)
	}
}

// A guest's requests are bounded in bytes, in number and in time, and its connections in number.
func TestGuestIsBounded(t *testing.T) {
	var asked atomic.Int32
	f := newFederation(t, func(c *Config) {
		c.AnswerGuest = func(string, []byte) []byte { asked.Add(1); return nil }
	})
	key, guest := newGuest(t, "west", 1)
	if err := f.server.Change(t.Context(), f.cfg.Members, []Member{guest}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.ask("west", key, bytes.Repeat([]byte("x"), MaxRequest+1)); err == nil {
		t.Error("a request that is too long was answered")
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d requests that are too long were heard", n)
	}
	nc, _ := f.guest("west", key)
	for range 2000 {
		if err := nc.PublishRequest(guestSubject("west"), replyPrefix("west")+".x", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	if n := asked.Load(); n == 0 || n > 25 {
		t.Errorf("%d of 2000 requests at once were answered, want about 20", n)
	}
	f.guest("west", key)
	pub, _ := key.PublicKey()
	if nc, err := f.client(natsgo.Nkey(pub, key.Sign)); err == nil {
		nc.Close()
		t.Error("a guest has three connections")
	}
}

// Guests that cannot be are refused.
func TestGuestsRefused(t *testing.T) {
	f := newFederation(t, withGuests)
	_, guest := newGuest(t, "west", 1)
	for what, guests := range map[string][]Member{
		"a member's key": {{Name: "west", Key: f.cfg.Members[0].Key}},
		"twice":          {guest, guest},
		"a bad name":     {{Name: "a b", Key: guest.Key}},
	} {
		if err := f.server.Change(t.Context(), f.cfg.Members, guests); err == nil {
			t.Errorf("%s: changed", what)
		}
	}
	closed := newFederation(t, nil)
	if err := closed.server.Change(t.Context(), closed.cfg.Members, []Member{guest}); err == nil {
		t.Error("a guest of a server that answers no guest")
	}
}
