package nats

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mercer-fl/mercer/transport"
)

// Unacknowledged messages survive the server, and connections restore themselves.
func TestServerRestarts(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := newFederation(t, nil)
	north, south := f.join("north"), f.join("south")
	f.send(north, "south", "one")
	f.send(north, "south", "two")
	unsettled := f.receive(south)
	f.restart(0)
	f.send(north, "south", "three")
	got := map[string]bool{}
	for range 3 {
		d := f.receive(south)
		got[string(d.Data)] = true
		if err := d.Ack(); err != nil {
			t.Fatal(err)
		}
	}
	if len(got) != 3 || !got[string(unsettled.Data)] {
		t.Errorf("after the restart came %v, want one, two and three", got)
	}
	f.quiet(south, 100*time.Millisecond)
}

// A sender who waits while the server is away succeeds when it is back.
func TestSendWhileAway(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	f := newFederation(t, nil)
	north := f.join("north")
	f.cfg.Port = f.port()
	f.shutdown()
	sent := make(chan error, 3)
	for i := range cap(sent) {
		go func() { sent <- north.Send(t.Context(), "south", transport.Bulk, fmt.Append(nil, i)) }()
	}
	select {
	case err := <-sent:
		t.Fatalf("a send without a server ended with error %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	f.start()
	south := f.join("south")
	for range cap(sent) {
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		if err := f.receive(south).Ack(); err != nil {
			t.Fatal(err)
		}
	}
}

// A waiting receiver waits through a restart.
func TestReceiveThroughRestart(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := newFederation(t, nil)
	north, south := f.join("north"), f.join("south")
	got := make(chan transport.Delivery, 1)
	go func() {
		d, err := south.Receive(t.Context(), transport.Bulk)
		if err != nil {
			t.Error(err)
		}
		got <- d
	}()
	time.Sleep(50 * time.Millisecond) // let it wait
	f.restart(100 * time.Millisecond)
	f.send(north, "south", "hello")
	select {
	case d := <-got:
		if string(d.Data) != "hello" {
			t.Errorf("got %q, want hello", d.Data)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("nothing arrived after the restart")
	}
}

// Killing a process leaves its files unchanged. They hold every message for which Send has
// returned.
func TestServerKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := newFederation(t, nil)
	north := f.join("north")
	const n = 20
	for i := range n {
		f.send(north, "south", fmt.Sprint(i))
	}
	remains := filepath.Join(t.TempDir(), "remains")
	if err := os.CopyFS(remains, os.DirFS(f.cfg.Dir)); err != nil {
		t.Fatal(err)
	}
	f.shutdown()
	f.cfg.Dir = remains
	f.start()
	south := f.join("south")
	got := map[string]bool{}
	for range n {
		d := f.receive(south)
		got[string(d.Data)] = true
	}
	if len(got) != n {
		t.Errorf("%d of %d messages survived", len(got), n)
	}
}

// Members may start before the server.
func TestMemberFirst(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	f := newFederation(t, nil)
	url := f.server.URL()
	f.cfg.Port = f.port()
	f.shutdown()

	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := Dial(ctx, url, "north", f.keys["north"], Options{})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("error %v, want that time is up and why", err)
	}

	joined := make(chan error, 1)
	go func() {
		c, err := Dial(t.Context(), url, "north", f.keys["north"], Options{})
		if err == nil {
			err = c.Close()
		}
		joined <- err
	}()
	time.Sleep(100 * time.Millisecond)
	f.start()
	if err := <-joined; err != nil {
		t.Error(err)
	}
}

// A killed process never closes its connection. Its successor receives its unsettled
// messages at once.
func TestSuccessorOfKilled(t *testing.T) {
	f := newFederation(t, nil)
	north := f.join("north")
	killed, _ := f.raw("south")
	box, err := killed.SubscribeSync(boxSubject("south", "old.1"))
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Publish(askSubject(transport.Bulk, "south", "old.1"), []byte(`{"batch": 10}`)); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		f.send(north, "south", fmt.Sprint(i))
		if _, err := box.NextMsg(5 * time.Second); err != nil {
			t.Fatal(err)
		}
	}
	killed.Close()
	successor := f.join("south")
	for range 3 {
		if err := f.receive(successor).Ack(); err != nil {
			t.Fatal(err)
		}
	}
}

// A lost request is made again; a late answer to the old one does no harm.
func TestServerFallsSilent(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := newFederation(t, nil)
	north, south := f.join("north"), f.join("south")
	south.(*conn).silence = 20 * time.Millisecond
	f.quiet(south, 200*time.Millisecond)
	for i := range 10 {
		text := fmt.Sprint(i)
		f.send(north, "south", text)
		d := f.receive(south)
		if string(d.Data) != text {
			t.Fatalf("got %q, want %q", d.Data, text)
		}
		if err := d.Ack(); err != nil {
			t.Fatal(err)
		}
	}
	f.quiet(south, 200*time.Millisecond)
}

// A full disk quota makes senders wait, and acknowledgements make room.
func TestQuotaMakesSendersWait(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := newFederation(t, func(c *Config) { c.MaxBytes, c.Share = 3<<20, 100 })
	north, south := f.join("north"), f.join("south")
	big := make([]byte, transport.MaxMessageBytes)
	for range 2 {
		if err := north.Send(t.Context(), "south", transport.Bulk, big); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	err := north.Send(ctx, "south", transport.Bulk, big)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "maximum bytes exceeded") {
		t.Fatalf("error %v, want a wait, and why", err)
	}
	sent := make(chan error, 1)
	go func() { sent <- north.Send(t.Context(), "south", transport.Bulk, big) }()
	for range 2 { // room for two, because the last attempt that was given up may reach the server late and be stored
		if err := f.receive(south).Ack(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
}

// A quota below the queues' size deletes nothing.
func TestQuotaCut(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f := newFederation(t, nil)
	north := f.join("north")
	for range 3 {
		if err := north.Send(t.Context(), "south", transport.Bulk, make([]byte, transport.MaxMessageBytes)); err != nil {
			t.Fatal(err)
		}
	}
	f.cfg.MaxBytes = 2 << 20
	f.restart(0)
	south := f.join("south")
	for range 3 {
		if err := f.receive(south).Ack(); err != nil {
			t.Fatal(err)
		}
	}
	f.send(north, "south", "there is room again")
}

// A share below a member's number of queued messages deletes nothing: members join, or the
// folder is from an earlier version without shares.
func TestShareCut(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	t.Parallel()
	for name, earlier := range map[string]func(*jetstream.StreamConfig){
		"of a larger share": func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject = 100 },
		"of no share":       func(c *jetstream.StreamConfig) { c.MaxMsgsPerSubject, c.DiscardNewPerSubject = 0, false },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFederation(t, nil)
			f.change(earlier)
			north := f.join("north")
			for i := range 5 {
				f.send(north, "south", fmt.Sprint(i))
			}
			f.cfg.Share = 2
			f.restart(0)
			south := f.join("south")
			for range 5 {
				if err := f.receive(south).Ack(); err != nil {
					t.Fatal(err)
				}
			}
			f.restart(0) // the share is what it should be from now on
			for range 2 {
				f.send(north, "south", "within the share")
			}
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if err := north.Send(ctx, "south", transport.Bulk, nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("error %v, want a wait", err)
			}
		})
	}
}

// change changes the settings of the stream for bulk, as another version would.
func (f *federation) change(edit func(*jetstream.StreamConfig)) {
	f.Helper()
	js, err := jetstream.New(f.server.steward)
	if err != nil {
		f.Fatal(err)
	}
	s, err := js.Stream(f.Context(), stream(transport.Bulk))
	if err != nil {
		f.Fatal(err)
	}
	c := s.CachedInfo().Config
	edit(&c)
	if _, err := js.UpdateStream(f.Context(), c); err != nil {
		f.Fatal(err)
	}
}
